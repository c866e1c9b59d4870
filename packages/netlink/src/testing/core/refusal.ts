import { HeddleError } from '@heddle/errors';
import { errnoNumber } from '@heddle/sys';

/** A request that the fake kernel refuses: what becomes the error of its acknowledgement. */
export class Refusal extends HeddleError {
  override readonly code = 'FAKE_KERNEL_REFUSAL';
  /** Positive. */
  readonly errnum: number;
  /** The kernel's own words, where it has any. */
  readonly text: string | undefined;

  constructor(errno: string, text?: string) {
    super(text === undefined ? errno : `${errno} (${text})`);
    this.errnum = errnoNumber(errno) ?? EINVAL;
    this.text = text;
  }
}

const EINVAL = 22;

/** Refuses a request. */
export function refuse(errno: string, text?: string): never {
  throw new Refusal(errno, text);
}

/** Refuses what a real kernel may do and this one cannot: it never guesses. */
export function unsupported(what: string): never {
  throw new Refusal('EOPNOTSUPP', `the fake kernel has no ${what}`);
}

/** Refuses a request that holds attributes which no codec of this package declares. */
export function refuseUnknown(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === 'unknown' && Array.isArray(member) && member.length > 0) {
      unsupported(`attribute ${(member[0] as { readonly id: number }).id} in ${name}`);
    }
    refuseUnknown(`${name}.${key}`, member);
  }
}
