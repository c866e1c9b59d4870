import type { GcCall } from '@heddle/cni/plugin';

/** What garbage collection needs to know: the SDK's `GcCall` is one. */
export type StaleFilter = Pick<GcCall<unknown>, 'network' | 'stale'>;
