export { Kernels as default } from './Kernels';
