export { jsonCodec, parsed, type ValueCodec } from './codec.ts';
export { type PutOptions, put, remove, type SwapOptions } from './compare-and-swap.ts';
export { type Followed, type FollowOptions, follow } from './follow.ts';
export { MAX_TRANSACTION, MAX_VALUES } from './request.ts';
export type {
  CallOptions,
  Change,
  Condition,
  Entry,
  Lease,
  LeaseId,
  Listing,
  Revision,
  Store,
  Transaction,
  WatchBatch,
  WatchEvent,
} from './store.ts';
export { StoreError, type StoreErrorCode, type StoreFailure } from './store-error.ts';
