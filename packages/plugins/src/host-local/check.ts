import { CNI_CODE, CniError } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import { heldBy, type RangeSet, rangeOf } from '@heddle/ipam';
import { Prefix } from '@heddle/netaddr';
import { type HostLocalConfig, rangeSetsOf } from './config.ts';
import { type Places, storeOf } from './places.ts';

/**
 * CHECK: the attachment holds an address and, beyond what the reference looks at, every address of the
 * previous result that comes from the configured ranges. It only reads, also where nothing can be written.
 */
export async function check(call: CheckCall<HostLocalConfig>, places: Places): Promise<void> {
  const { containerID, ifName, prevResult } = call;
  const rangeSets = rangeSetsOf(call.config, call.cniVersion);
  const held = new Set(
    heldBy(storeOf(call, places).list(), { containerID, ifName }).map(({ addr }) => addr.toString()),
  );
  if (held.size === 0) {
    throw drift(`host-local: Failed to find address added by container ${containerID}`);
  }
  const ours = (prevResult?.ips ?? [])
    .map(({ address }) => Prefix.parse(address).addr)
    .filter((addr) => rangeSets.some((set: RangeSet) => rangeOf(set, addr) !== undefined));
  const missing = ours.filter((addr) => !held.has(addr.toString()));
  if (missing.length > 0) {
    throw drift(
      `host-local: ${ifName} of ${containerID} uses ${missing.join(', ')} but holds ${[...held].join(', ')}`,
    );
  }
}

function drift(message: string): CniError {
  return new CniError(CNI_CODE.DRIFT, message);
}
