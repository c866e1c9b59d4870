/** Refusals of address management in the words of the plugin, which are the reference's where it has them. */
import { CNI_CODE, CniError, UnavailableError } from '@heddle/cni';
import { IpamError, PoolExhaustedError, type RangeSet, type Reservation, rangeOf } from '@heddle/ipam';
import { countOrphans } from './orphans.ts';

/** What a refusal is about. */
export interface RefusalContext {
  readonly network: string;
  readonly rangeSets: readonly RangeSet[];
  readonly reservations: () => readonly Reservation[];
  readonly cacheDir: string;
}

/** The error to answer an ADD with; an exhausted pool is a condition that passes (code 11). */
export function refusal(error: unknown, context: RefusalContext): unknown {
  if (error instanceof PoolExhaustedError) {
    const msg = `${prefix(error.rangeSet)}${error.message}${orphanNote(error, context)}; "heddle ls" shows who holds them`;
    return new UnavailableError('TRY_AGAIN', msg, { cause: error });
  }
  if (error instanceof IpamError && error.code !== 'IPAM_RANGE_INVALID' && error.rangeSet !== undefined) {
    return new CniError(CNI_CODE.IPAM, `${prefix(error.rangeSet)}${error.message}`, {
      cause: error,
      code: error.code,
      ...(error.hint !== undefined && { hint: error.hint }),
    });
  }
  return error;
}

function prefix(rangeSet: number): string {
  return `failed to allocate for range ${rangeSet}: `;
}

function orphanNote({ rangeSet }: PoolExhaustedError, context: RefusalContext): string {
  const set = context.rangeSets[rangeSet];
  if (set === undefined) return '';
  const held = context.reservations().filter(({ addr }) => rangeOf(set, addr) !== undefined);
  const count = countOrphans(context.network, held, context.cacheDir);
  if (count === undefined || count === 0) return '';
  return `, ${count} of them for no attachment that ${context.cacheDir} knows (GC frees those)`;
}
