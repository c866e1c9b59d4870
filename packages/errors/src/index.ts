export { CodedError } from './coded-error.ts';
export { ErrorList } from './error-list.ts';
export { HeddleError, type HeddleErrorOptions } from './heddle-error.ts';
