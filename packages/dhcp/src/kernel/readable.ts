import { type Codec, decode, WireError } from '@heddle/wire';

/** Hands on a value, when the bytes hold one. What strangers send is often of no format. */
export function readable<T>(codec: Codec<T, never>, bytes: Uint8Array, use: (value: T) => void): void {
  let value: T;
  try {
    value = decode(codec, bytes);
  } catch (error) {
    if (error instanceof WireError) return;
    throw error;
  }
  use(value);
}
