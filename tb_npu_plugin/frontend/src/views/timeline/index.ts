export { TimelinePage as default } from './TimelinePage';
