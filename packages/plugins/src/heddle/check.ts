/** CHECK: the attachment is still what ADD made of it, at both ends and with the node. */
import type { CheckCall } from '@heddle/cni/plugin';
import type { ClusterAddresses } from '@heddle/ipam/cluster';
import { Prefix } from '@heddle/netaddr';
import type { Link } from '@heddle/netlink';
import { heldFindings } from '../cluster/verbs.ts';
import {
  checkLink,
  checkNetworkLayer,
  containerInterface,
  type Findings,
  onlyOf,
  reportDrift,
  requirePrevResult,
} from '../interface/findings.ts';
import { hostEndFindings, hostEndOf, missingRoutes } from '../interface/host-end.ts';
import type { HeddleConfig } from './config.ts';
import { familiesOf, gatewayNeighbours, gatewayRoutes, HOST_ADDRESS, hostRoutes } from './routing.ts';

type Call = CheckCall<HeddleConfig>;

/** See the file's comment. All that is different is reported at once. */
export async function check(call: Call, source: ClusterAddresses): Promise<void> {
  const { host, container, ifName } = call;
  const whole = requirePrevResult(call.prevResult);
  const { index, entry } = containerInterface(whole, ifName, call.netnsPath);
  const result = onlyOf(whole, index);
  const addresses = (result.ips ?? []).map(({ address }) => Prefix.parse(address));
  const families = familiesOf(addresses);
  const inside = await container.links.find(ifName);
  reportDrift([
    ...(await heldFindings(call, source, result)),
    ...checkLink(ifName, inside, { kind: 'veth', up: true, mac: entry.mac }),
    ...(inside === undefined
      ? []
      : [
          ...(await checkNetworkLayer(container, inside, result, index)),
          ...(await missingRoutes(container, inside, gatewayRoutes(inside.index, families))),
          ...(await neighbourFindings(call, inside, families)),
          ...(await hostEndFindings(host, inside, result, {
            addresses: families.includes(6) ? [HOST_ADDRESS] : [],
            routes: (link) => hostRoutes(link, addresses),
          })),
        ]),
  ]);
}

async function neighbourFindings(
  { host, container }: Call,
  inside: Link,
  families: readonly (4 | 6)[],
): Promise<Findings> {
  const mac = (await hostEndOf(host, inside))?.mac;
  // Without an end on the host there is more to say, and it is said.
  if (mac === undefined) return [];
  const present = await container.neighbours.list({ link: inside.index });
  return gatewayNeighbours(inside.index, families, mac)
    .filter(({ address }) => !present.some((each) => each.address.equals(address) && each.mac?.equals(mac)))
    .map(({ address }) => `the neighbour ${address} is missing on ${inside.name}, or is not the host`);
}
