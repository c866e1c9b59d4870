/** Marks of packets and connections. */
import { type CompileContext, FIRST_REGISTER } from './compile-context.ts';
import { typeInfo } from './key-types.ts';
import { NftError } from './nft-error.ts';
import type { Statement } from './statements.ts';

type SetMark = Extract<Statement, { kind: 'set-mark' }>;

/** Appends the setting of a mark, or of some of its bits. */
export function compileSetMark(context: CompileContext, { of, value, mask }: SetMark): void {
  const { encode } = typeInfo('mark');
  const expr = of === 'packet' ? 'meta' : 'ct';
  if (typeof value !== 'number') {
    if (mask !== undefined)
      throw new NftError('a mark set from a field has no mask (mask the field instead)');
    context.load(value);
  } else if (mask === undefined) {
    context.emit({ expr: 'immediate', dreg: FIRST_REGISTER, data: { value: encode(value) } });
  } else {
    if ((value & ~mask) !== 0) throw new NftError(`mark ${hex(value)} has bits outside of mask ${hex(mask)}`);
    context.emit({ expr, key: 'mark', dreg: FIRST_REGISTER });
    context.mask(encode(~mask >>> 0), encode(value));
  }
  context.emit({ expr, key: 'mark', sreg: FIRST_REGISTER });
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
