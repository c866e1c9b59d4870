import { Refusal } from './refusal.ts';

/** A request that reached the fake kernel. */
export interface SeenRequest {
  /** Name of the namespace. */
  readonly namespace: string;
  /** Such as `RTM_NEWADDR` or `NFT_MSG_NEWRULE`. */
  readonly name: string;
  /** NLM_F_* */
  readonly flags: number;
  /** The message behind its header. */
  readonly body: Uint8Array;
}

/** A failure to come. */
export interface Failure {
  /** Which request: one of this name, or one for which the function says so. */
  readonly match: string | ((request: SeenRequest) => boolean);
  /** Such as `EBUSY`. */
  readonly errno: string;
  /** What the kernel says besides, as extended acknowledgement. */
  readonly message?: string | undefined;
  /** How many requests fail; 1 when left out. */
  readonly times?: number | undefined;
}

/** Failures that wait for their requests. */
export class Failures {
  #waiting: readonly { readonly failure: Failure; readonly left: number }[] = [];

  add(failure: Failure): void {
    this.#waiting = [...this.#waiting, { failure, left: failure.times ?? 1 }];
  }

  /** Refuses the request when a failure waits for it. */
  meet(request: SeenRequest): void {
    const met = this.#waiting.find(({ failure: { match } }) =>
      typeof match === 'string' ? match === request.name : match(request),
    );
    if (met === undefined) return;
    this.#waiting = this.#waiting.flatMap((each) => {
      if (each !== met) return [each];
      return each.left > 1 ? [{ ...each, left: each.left - 1 }] : [];
    });
    throw new Refusal(met.failure.errno, { text: met.failure.message });
  }
}
