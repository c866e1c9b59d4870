import { HeddleError } from '@heddle/errors';
import { errnoNumber } from '@heddle/sys';

/** What a refusal may say besides its errno. */
interface Details {
  /** The kernel's own words. */
  readonly text?: string | undefined;
  /** Which of several items in the message is to blame, from 0. */
  readonly item?: number | undefined;
  /** Where in the message the culprit lies, in bytes from its header. */
  readonly offset?: number | undefined;
}

/** A request that the fake kernel refuses: what becomes the error of its acknowledgement. */
export class Refusal extends HeddleError {
  override readonly code = 'FAKE_KERNEL_REFUSAL';
  readonly errno: string;
  /** Positive. */
  readonly errnum: number;
  readonly text: string | undefined;
  readonly item: number | undefined;
  readonly offset: number | undefined;

  constructor(errno: string, { text, item, offset }: Details = {}) {
    super(text === undefined ? errno : `${errno} (${text})`);
    this.errno = errno;
    this.errnum = errnoNumber(errno) ?? EINVAL;
    this.text = text;
    this.item = item;
    this.offset = offset;
  }

  /** The same, blamed on one of several items. */
  about(item: number): Refusal {
    return new Refusal(this.errno, { text: this.text, item });
  }

  /** The same, with the place in the message. */
  at(offset: number): Refusal {
    return new Refusal(this.errno, { text: this.text, offset });
  }
}

const EINVAL = 22;

/** Refuses a request. */
export function refuse(errno: string, text?: string): never {
  throw new Refusal(errno, { text });
}

/** Refuses what a real kernel may do and this one cannot: it never guesses. */
export function unsupported(what: string): never {
  return refuse('EOPNOTSUPP', `the fake kernel has no ${what}`);
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
