import type { Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import { allocate, release } from '@heddle/ipam';
import { addressResult } from '../addressing/address-result.ts';
import { type HostLocalConfig, ipamOf, rangeSetsOf, requestedIps } from './config.ts';
import { type Places, storeOf } from './places.ts';
import { refusal } from './refusal.ts';
import { readResolvConf } from './resolv-conf.ts';

/** ADD: takes one address of each range set. */
export async function add(call: AddCall<HostLocalConfig>, places: Places): Promise<Result> {
  const { routes, resolvConf } = ipamOf(call.config);
  const rangeSets = rangeSetsOf(call.config, call.cniVersion);
  const requested = requestedIps(call.config, call.args['IP']);
  const dns = resolvConf === '' ? undefined : readResolvConf(resolvConf);
  const owner = { containerID: call.containerID, ifName: call.ifName };
  const store = storeOf(call, places);
  const allocations = await allocate(store, { rangeSets, owner, requested }).catch((error: unknown) => {
    const { cacheDir } = places;
    throw refusal(error, { network: call.network, rangeSets, reservations: () => store.list(), cacheDir });
  });
  call.undo.push('release addresses', async () => void (await release(store, owner)));
  return addressResult({
    ips: allocations.map(({ address, gateway }) => ({
      address: address.toString(),
      ...(gateway !== undefined && { gateway: gateway.toString() }),
    })),
    routes,
    dns,
  });
}
