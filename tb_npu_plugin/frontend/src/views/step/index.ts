export { StepTime as default } from './StepTime';
