export { Overview as default } from './Overview';
