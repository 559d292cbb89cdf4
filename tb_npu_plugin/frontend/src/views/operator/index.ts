export { Operators as default } from './Operators';
