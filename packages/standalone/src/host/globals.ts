/** What Node.js has as globals, and the language does not: the bundler puts these in their place. */
export { AbortController, AbortSignal } from './abort.ts';
export { Buffer } from './buffer.ts';
export { process } from './process.ts';
export { TextDecoder, TextEncoder } from './text.ts';
export { clearTimer as clearTimeout, setTimer as setTimeout } from './timers.ts';

export const crypto = {
  getRandomValues: <T extends Uint8Array | Uint32Array>(values: T): T => {
    host.fillRandom(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return values;
  },
};
