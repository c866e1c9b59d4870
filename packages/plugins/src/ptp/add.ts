/** ADD: a veth pair between the container and the host, and the routes that lead over it. */
import { CNI_CODE, CniError, CURRENT_VERSION, type Interface, type IpConfig, type Result } from '@heddle/cni';
import { type AddCall, ownerAlias } from '@heddle/cni/plugin';
import { addressesOf, applyResult } from '../interface/apply-result.ts';
import { awaitSolicitations } from '../interface/await-solicitations.ts';
import { chooseDns } from '../interface/dns.ts';
import { enableForwarding } from '../interface/forwarding.ts';
import { addHostRoute } from '../interface/host-route.ts';
import { trySysctls } from '../interface/ipv6.ts';
import { masquerade, masqueradeBackend } from '../interface/masquerade.ts';
import type { PlannedAddress } from '../interface/plan-routes.ts';
import { createVeth, type VethPair } from '../interface/veth.ts';
import type { PtpConfig } from './config.ts';
import { containerRoutes, hostAddresses, hostRoutes, type RoutedAddress } from './routing.ts';

type Call = AddCall<PtpConfig>;

/**
 * See the file's comment. Nothing is announced: the host is the container's only neighbour, and knows nothing of
 * a link that it has just got.
 */
export async function add(call: Call): Promise<Result> {
  const { config, host, ifName, netnsPath } = call;
  if (config.ipMasq) masqueradeBackend(config);
  // The link first: where the interface is taken already, address management must not be asked again for it.
  const pair = await createVeth(call, { mtu: config.mtu });
  const given = await call.ipam.add();
  const ips = (given.ips ?? []).map((ip): IpConfig => ({ ...ip, interface: CONTAINER_AT }));
  const interfaces: readonly Interface[] = [{ name: '' }, { name: ifName, sandbox: netnsPath }];
  const result: Result = { ...given, cniVersion: CURRENT_VERSION, interfaces, ips };
  const addresses = addressesOf(ifName, result).map(routed);

  for (const family of [4, 6] as const) {
    if (addresses.some(({ prefix }) => prefix.family === family)) await enableForwarding(host, family);
  }
  await skipDuplicateDetection(call, pair);
  await setUpContainer(call, pair, result, addresses);
  await setUpHost(call, pair, addresses);
  if (config.ipMasq) await masquerade(call, addresses);

  const dns = chooseDns(config.dns, given.dns);
  const { dns: _, ...rest } = result;
  return {
    ...rest,
    interfaces: [
      { name: pair.host.name, mac: `${pair.host.mac ?? ''}` },
      { name: ifName, mac: `${pair.containerMac}`, sandbox: netnsPath },
    ],
    ...(dns !== undefined && { dns }),
  };
}

function routed({ prefix, gateway }: PlannedAddress): RoutedAddress {
  if (gateway !== undefined) return { prefix, gateway };
  throw new CniError(CNI_CODE.INVALID_CONFIG, `address ${prefix} has no gateway: the host has no address`, {
    hint: 'set "gateway" in the configuration of the address management plugin',
  });
}

/**
 * The pair has no room for duplicates. While the link-local address of the host's end were tentative, the host
 * could not solicit the container for packets that it forwards, and lost a second. The ends get it when the
 * container's comes up.
 */
async function skipDuplicateDetection({ host, container, ifName }: Call, pair: VethPair): Promise<void> {
  await trySysctls(host, { [`net/ipv6/conf/${pair.host.name}/accept_dad`]: '0' });
  await trySysctls(container, { [`net/ipv6/conf/${ifName}/accept_dad`]: '0' });
}

async function setUpContainer(
  call: Call,
  { containerIndex: index }: VethPair,
  result: Result,
  addresses: readonly RoutedAddress[],
): Promise<void> {
  const { container, ifName } = call;
  await applyResult(container, { name: ifName, index }, result, {
    // Only the host could have the same address, and it has a route to here.
    duplicateDetection: false,
    networkRoutes: containerRoutes(index, addresses),
    warn: (message) => call.warn(message),
  });
}

async function setUpHost(
  call: Call,
  { host: link }: VethPair,
  addresses: readonly RoutedAddress[],
): Promise<void> {
  const { host, attachment, cniArgs } = call;
  const own = hostAddresses(addresses);
  await host.batch([
    host.links.plan.set(link.index, { alias: ownerAlias(attachment, cniArgs) }),
    ...own.map((prefix) => host.addresses.plan.add({ link: link.index, prefix, noDad: prefix.family === 6 })),
  ]);
  for (const route of hostRoutes(link.index, addresses)) await addHostRoute(call, route);
  await awaitSolicitations(
    host,
    link.index,
    own.map(({ addr }) => addr),
  );
}

const CONTAINER_AT = 1;
