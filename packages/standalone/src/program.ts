/**
 * What the program is built from. This runs while it is built, as do all modules; and what is then in memory becomes the
 * program (`native/freeze.c`). A call begins with {@link main}, and has nothing to load.
 */
import { systemError } from './host/errors.ts';
import { settle } from './host/settle.ts';
import { main } from './main.ts';

host.makeError = systemError;
host.main = main;
// The engine's own chance would go on from where it was when the program was built, in each process alike.
Math.random = () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32;
settle();
