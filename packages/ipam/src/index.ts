export { type Allocation, type AllocationRequest, allocate } from './allocate.ts';
export { DEFAULT_DATA_DIR, type FileStoreOptions, fileStore } from './file-store.ts';
export { IpamError, type IpamErrorCode, PoolExhaustedError } from './ipam-error.ts';
export { type Range, type RangeConfig, resolveRange } from './range.ts';
export { familyOf, formatRangeSet, type RangeSet, rangeOf, resolveRangeSets } from './range-set.ts';
export { heldBy, release, releaseStale } from './release.ts';
export { formatOwner, type Owner, type Reservation } from './reservation.ts';
export type { ExclusiveOptions, Ledger, ReservationStore } from './store.ts';
export { measure, type Usage } from './usage.ts';
