/** Names that are derived from other names. */
import { native } from './addon.ts';

/**
 * The SHA-512 digest of a text's UTF-8 bytes, in hex digits. For names, where `node:crypto` would take longer to load
 * than a plugin takes for everything else that it computes.
 *
 * @example sha512('abc').slice(0, 16) // 'ddaf35a193617aba'
 */
export function sha512(text: string): string {
  return native().sha512(Buffer.from(text));
}
