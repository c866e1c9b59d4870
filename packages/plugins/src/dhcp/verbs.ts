export { add } from './add.ts';
export { check } from './check.ts';
export { del } from './del.ts';
export { gc } from './gc.ts';
export { status } from './status.ts';
