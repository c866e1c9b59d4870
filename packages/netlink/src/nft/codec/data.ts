/** NFTA_DATA_*, NFTA_VERDICT_*: what is loaded into a register — linux/netfilter/nf_tables.h */
import {
  attr,
  attrs,
  type Codec,
  cstring,
  i32be,
  mapped,
  oneOf,
  rest,
  type Value,
  WireError,
} from '@heddle/wire';

/** NF_DROP, NF_ACCEPT, enum nft_verdicts */
const verdictCode = oneOf(i32be, {
  drop: 0,
  accept: 1,
  queue: 3,
  continue: -1,
  break: -2,
  jump: -3,
  goto: -4,
  return: -5,
});

/** NFTA_VERDICT_* */
export const verdictAttrs = attrs('NFTA_VERDICT', { code: attr(1, verdictCode), chain: attr(2, cstring) });

/** NFTA_DATA_*: bytes or a verdict. */
export const data = attrs('NFTA_DATA', { value: attr(1, rest), verdict: attr(2, verdictAttrs) });

/** What a register is loaded with: bytes or a verdict. */
export type Data = Value<typeof data>;

/** A handle: 64 bits in the message, counted up from one in each table, so a number. */
export function handleOf(codec: Codec<bigint>): Codec<number> {
  return {
    ...mapped(codec, { read: Number, write: (handle: number) => BigInt(handle) }),
    read(window, start, end) {
      const handle = Number(codec.read(window, start, end));
      if (!Number.isSafeInteger(handle)) throw new WireError('handle', start, `is too large: ${handle}`);
      return handle;
    },
  };
}
