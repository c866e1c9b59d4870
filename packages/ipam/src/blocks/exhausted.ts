import { HeddleError } from '@heddle/errors';

/** How full pools are, in addresses. */
export interface PoolsUse {
  readonly pools: readonly string[];
  readonly held: number;
  /** Given back, and not given again. */
  readonly resting: number;
}

/** No pool has an address left for the node: a condition that passes when others release theirs. */
export class PoolsExhaustedError extends HeddleError {
  override readonly code = 'POOL_EXHAUSTED';
  readonly use: PoolsUse;

  constructor(message: string, use: PoolsUse, hint: string) {
    super(message, { hint, details: { ...use } });
    this.use = use;
  }
}
