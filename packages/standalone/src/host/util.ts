/** `node:util`, as much of it as the program uses. */
export { getSystemErrorMessage, getSystemErrorName } from './errors.ts';
