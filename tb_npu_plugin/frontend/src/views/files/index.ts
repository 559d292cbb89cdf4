export { Files as default } from './Files';
