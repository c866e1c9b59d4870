/** ADD: a veth pair, addresses of the cluster for the pod's end, and a route to each on the host. */
import { CURRENT_VERSION, type Result } from '@heddle/cni';
import { type AddCall, ownerAlias } from '@heddle/cni/plugin';
import { LINK_GROUPS } from '@heddle/dataplane';
import type { ClusterAddresses } from '@heddle/ipam/cluster';
import type { Prefix } from '@heddle/netaddr';
import { requestOf } from '../cluster/config.ts';
import { GATEWAYS, takeAddresses } from '../cluster/verbs.ts';
import { applyResult } from '../interface/apply-result.ts';
import { chooseDns } from '../interface/dns.ts';
import { enableForwarding } from '../interface/forwarding.ts';
import { addHostRoute } from '../interface/host-route.ts';
import { trySysctls } from '../interface/ipv6.ts';
import { createVeth, type VethPair } from '../interface/veth.ts';
import type { HeddleConfig } from './config.ts';
import {
  familiesOf,
  gatewayNeighbours,
  gatewayRoutes,
  HOST_ADDRESS,
  hostRoutes,
  POD_AT,
  podRoutes,
} from './routing.ts';

type Call = AddCall<HeddleConfig>;

/** See the file's comment. */
export async function add(call: Call, source: ClusterAddresses): Promise<Result> {
  const { config, ifName, netnsPath } = call;
  // The link first: where the interface is taken already, no address must be asked for it again, nor given back.
  const pair = await createVeth(call, { mtu: config.mtu, up: false });
  const given = await takeAddresses(call, source, requestOf(call, config, config));
  const addresses = given.addresses.map(({ address }) => address);
  const mtu = config.mtu === 0 ? given.mtu : config.mtu;
  await setUpHost(call, pair, addresses, mtu);
  const result: Result = {
    cniVersion: CURRENT_VERSION,
    interfaces: [
      { name: pair.host.name, mac: `${pair.host.mac ?? ''}` },
      { name: ifName, mac: `${pair.containerMac}`, sandbox: netnsPath, ...(mtu > 0 && { mtu }) },
    ],
    ips: addresses.map((address) => ({
      address: `${address}`,
      gateway: `${GATEWAYS[address.family]}`,
      interface: POD_AT,
    })),
    routes: podRoutes(familiesOf(addresses)),
  };
  await setUpPod(call, pair, result, familiesOf(addresses), mtu);
  const dns = chooseDns(config.dns, undefined);
  return { ...result, ...(dns !== undefined && { dns }) };
}

async function setUpHost(
  call: Call,
  { host: link }: VethPair,
  addresses: readonly Prefix[],
  mtu: number,
): Promise<void> {
  const { host, attachment, cniArgs } = call;
  const families = familiesOf(addresses);
  for (const family of families) await enableForwarding(host, family);
  // What nobody uses of IPv6 is not made: routes of each pod's link, all of which the kernel walks for each next one.
  if (!families.includes(6)) await trySysctls(host, { [`net/ipv6/conf/${link.name}/disable_ipv6`]: '1' });
  await host.batch([
    host.links.plan.set(link.index, {
      alias: ownerAlias(attachment, cniArgs),
      // Nobody takes packets from there that come from other addresses than the pod's own.
      group: LINK_GROUPS.pods,
      ...(mtu > 0 && mtu !== link.mtu && { mtu }),
    }),
    host.links.plan.set(link.index, { up: true }),
    ...(families.includes(6)
      ? [host.addresses.plan.add({ link: link.index, prefix: HOST_ADDRESS, noDad: true })]
      : []),
  ]);
  for (const route of hostRoutes(link.index, addresses)) await addHostRoute(call, route);
}

async function setUpPod(
  call: Call,
  { containerIndex: index, host: { mac, mtu: before } }: VethPair,
  result: Result,
  families: readonly (4 | 6)[],
  mtu: number,
): Promise<void> {
  const { container, ifName } = call;
  await applyResult(container, { name: ifName, index }, result, {
    // The cluster gives an address once.
    duplicateDetection: false,
    networkRoutes: gatewayRoutes(index, families),
    warn: (message) => call.warn(message),
  });
  await container.batch([
    ...(mtu > 0 && mtu !== before ? [container.links.plan.set(index, { mtu })] : []),
    ...(mac === undefined
      ? []
      : gatewayNeighbours(index, families, mac).map((each) => container.neighbours.plan.replace(each))),
  ]);
}
