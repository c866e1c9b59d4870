import { CodedError, HeddleError, type HeddleErrorOptions } from '@heddle/errors';
import type { Usage } from './usage.ts';

/** Why address management refused. */
export type IpamErrorCode =
  /** A range, or a combination of ranges, is not valid. */
  | 'IPAM_RANGE_INVALID'
  /** The requested address cannot be given: it is held by someone, or it is the gateway's. */
  | 'IPAM_ADDRESS_UNAVAILABLE'
  /** A requested address lies in no range set, or more were requested from a set than it gives. */
  | 'IPAM_REQUEST_UNMET'
  /** The owner holds an address of the range set already. */
  | 'IPAM_DUPLICATE'
  /** The store could not be read or written. */
  | 'IPAM_STORE'
  /** A pool, or a combination of pools, is not valid. */
  | 'IPAM_POOL_INVALID'
  /** No pool fits: none is enabled for the node, of the family, or of the names that were asked for. */
  | 'IPAM_NO_POOL'
  /** The node is not a member of the cluster any more, so it may not take addresses. */
  | 'IPAM_NODE_LOST'
  /** A node that was to be removed is a member of the cluster again. */
  | 'IPAM_NODE_ALIVE'
  /** Others were faster a hundred times. */
  | 'IPAM_BUSY';

/**
 * A refusal of address management. Texts begin as the reference's do, because tools match on them.
 *
 * @example
 * try { await allocate(store, request) } catch (error) {
 *   if (IpamError.is(error, 'IPAM_DUPLICATE')) …
 * }
 */
export class IpamError extends CodedError<IpamErrorCode> {
  /** The index of the range set in question, where there is one. */
  readonly rangeSet?: number;

  constructor(
    code: IpamErrorCode,
    message: string,
    options: HeddleErrorOptions & { rangeSet?: number } = {},
  ) {
    super(code, message, options);
    if (options.rangeSet !== undefined) this.rangeSet = options.rangeSet;
  }
}

/** Every address of a range set is held: a condition that passes when others release theirs. */
export class PoolExhaustedError extends HeddleError {
  override readonly code = 'POOL_EXHAUSTED';
  /** The index of the range set. */
  readonly rangeSet: number;
  /** The range set's size and use. */
  readonly usage: Usage;

  constructor(message: string, rangeSet: number, usage: Usage) {
    super(message);
    this.rangeSet = rangeSet;
    this.usage = usage;
  }
}
