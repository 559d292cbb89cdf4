export { HostApi as default } from './HostApi';
