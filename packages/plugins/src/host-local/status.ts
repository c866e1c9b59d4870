import { UnavailableError } from '@heddle/cni';
import type { StatusCall } from '@heddle/cni/plugin';
import { formatRangeSet, measure, type ReservationStore } from '@heddle/ipam';
import { type HostLocalConfig, hasRanges, ipamOf, rangeSetsOf } from './config.ts';
import { type Places, storeOf } from './places.ts';

/**
 * STATUS: the configuration is valid and the reservations can be read.
 *
 * An exhausted range set is a warning, unless `statusOnExhaustion` asks for an error. The specification would
 * have an error always; but a runtime that sees one declares the whole node not ready, and its running pods,
 * which have their addresses, may be moved away because a new one would get none.
 */
export async function status(call: StatusCall<HostLocalConfig>, places: Places): Promise<void> {
  const { statusOnExhaustion } = ipamOf(call.config);
  if (!hasRanges(call.config)) return;
  const rangeSets = rangeSetsOf(call.config, call.cniVersion);
  const held = readAddrs(storeOf(call, places));
  for (const set of rangeSets) {
    const { size, used, free } = measure(set, held);
    if (free > 0n) continue;
    const msg = `no IP addresses available in range set: ${formatRangeSet(set)}: ${used} of ${size} in use`;
    if (statusOnExhaustion) throw new UnavailableError('NOT_READY', msg);
    call.warn(msg);
  }
}

function readAddrs(store: ReservationStore) {
  try {
    return store.list().map(({ addr }) => addr);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UnavailableError('NOT_READY', `addresses cannot be reserved: ${why}`, { cause: error });
  }
}
