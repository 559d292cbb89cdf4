export { RanksPage as default } from './RanksPage';
