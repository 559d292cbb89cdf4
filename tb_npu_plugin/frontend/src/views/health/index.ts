export { Health as default } from './Health';
