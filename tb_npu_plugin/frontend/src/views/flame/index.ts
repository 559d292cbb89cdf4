export { FlamePage as default } from './FlamePage';
