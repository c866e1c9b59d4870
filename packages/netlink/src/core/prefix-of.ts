/** Prefixes in messages: the address in an attribute, its length in the struct in front. */
import { type Addr, Prefix } from '@heddle/netaddr';
import { WireError } from '@heddle/wire';

/**
 * The prefix of an address.
 *
 * @param format the struct that has the length, as the second of its bytes or, for a source, the third
 * @throws {WireError} when the address has fewer bits
 */
export function prefixOf(addr: Addr, bits: number, format: string, offset: 1 | 2 = 1): Prefix {
  const most = addr.family === 4 ? 32 : 128;
  if (bits > most) throw new WireError(format, offset, `has a prefix of ${bits} bits for ${addr}`);
  return Prefix.of(addr, bits);
}
