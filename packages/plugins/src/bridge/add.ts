/** ADD: a veth pair between the container and the bridge, and with IPAM everything that layer 3 takes. */
import { CURRENT_VERSION, type Interface, type IpConfig, type Result, type Route } from '@heddle/cni';
import { type AddCall, ownerAlias } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import type { Link } from '@heddle/netlink';
import { announce, enableAnnouncements } from '../interface/announce.ts';
import { addressesOf, applyResult } from '../interface/apply-result.ts';
import { chooseDns } from '../interface/dns.ts';
import { enableForwarding } from '../interface/forwarding.ts';
import { trySysctl } from '../interface/ipv6.ts';
import { masquerade } from '../interface/masquerade.ts';
import type { PlannedAddress } from '../interface/plan-routes.ts';
import { createVeth, type VethPair } from '../interface/veth.ts';
import { ensureBridge } from './bridge-link.ts';
import { type BridgeConfig, checkCombination, hasIpam, isGateway, requestedMac } from './config.ts';
import { defaultGateway, ensureAddresses, ensureVlanGateway, gatewayPrefixes } from './gateway.ts';
import { awaitForwarding, setUpPort } from './port.ts';

type Call = AddCall<BridgeConfig>;

/** See the file's comment. Whatever fails, the call's undo stack takes back what was done. */
export async function add(call: Call): Promise<Result> {
  const { config, host, container, attachment } = call;
  checkCombination(config);
  const mac = requestedMac(config, call.args['MAC']);
  const bridge = await ensureBridge(call);
  const pair = await createVeth(call, { mac, mtu: config.mtu, master: bridge.index });
  await setUpPort(host, pair.host, ownerAlias(attachment, call.cniArgs), config);
  if (config.macspoofchk) await checkSources(call, pair);

  const result = hasIpam(config) ? await addLayer3(call, pair) : {};
  const addresses = addressesOf(call.ifName, {
    interfaces: interfacesOf(call),
    ...result,
    cniVersion: CURRENT_VERSION,
  });
  const gateway = isGateway(config) ? await addGateway(call, bridge, addresses) : undefined;
  if (config.ipMasq && hasIpam(config)) await masquerade(call, addresses);
  if (!hasIpam(config) && !config.disableContainerInterface) {
    await container.links.set(pair.containerIndex, { up: true });
  }

  const ends = await settle(call, bridge, pair);
  const dns = chooseDns(config.dns, result.dns);
  return {
    cniVersion: CURRENT_VERSION,
    interfaces: [
      entryOf(ends.bridge),
      entryOf(ends.port),
      { ...entryOf(ends.container), sandbox: call.netnsPath },
      ...(gateway !== undefined && gateway.index !== bridge.index ? [entryOf(gateway)] : []),
    ],
    ...(result.ips !== undefined && { ips: result.ips }),
    ...(result.routes !== undefined && { routes: result.routes }),
    ...(dns !== undefined && { dns }),
  };
}

/** What address management gave, completed and in the kernel. */
async function addLayer3(call: Call, pair: VethPair): Promise<Pick<Result, 'ips' | 'routes' | 'dns'>> {
  const { config, container, ifName } = call;
  const given = await call.ipam.add();
  const ips = (given.ips ?? []).map((ip) => completeIp(ip, config));
  const routes = [...(given.routes ?? []), ...defaultRoutes(ips, given.routes ?? [], config)];
  const conf = `net/ipv6/conf/${ifName}`;
  if (config.enabledad) await trySysctl(container, `${conf}/enhanced_dad`, '1');
  await trySysctl(container, `${conf}/accept_dad`, config.enabledad ? '1' : '0');
  await enableAnnouncements(container, ifName);
  await applyResult(
    container,
    { name: ifName, index: pair.containerIndex },
    { cniVersion: CURRENT_VERSION, interfaces: interfacesOf(call), ips, routes },
    { duplicateDetection: config.enabledad, warn: (message) => call.warn(message) },
  );
  return { ips, ...(routes.length > 0 && { routes }), ...(given.dns !== undefined && { dns: given.dns }) };
}

/** Every address is the container interface's; a network whose host is the gateway has one. */
function completeIp(ip: IpConfig, config: BridgeConfig): IpConfig {
  const missing = isGateway(config) && (ip.gateway === undefined || ip.gateway === '');
  return {
    ...ip,
    interface: CONTAINER_AT,
    ...(missing && { gateway: `${defaultGateway(Prefix.parse(ip.address))}` }),
  };
}

/** The default routes that `isDefaultGateway` adds: one for each family that has none yet. */
function defaultRoutes(
  ips: readonly IpConfig[],
  routes: readonly Route[],
  config: BridgeConfig,
): readonly Route[] {
  if (!config.isDefaultGateway) return [];
  return [Prefix.DEFAULT4, Prefix.DEFAULT6].flatMap((dst) => {
    // Also one without a gateway counts: it takes the same gateway when it is made.
    if (routes.some((route) => Prefix.parse(route.dst).equals(dst))) return [];
    const first = ips.find(({ address }) => Prefix.parse(address).family === dst.family);
    return first?.gateway === undefined ? [] : [{ dst: `${dst}`, gw: first.gateway }];
  });
}

/** Puts the gateway on the host, and makes the host a router. Returns the link that is the gateway. */
async function addGateway(
  call: Call,
  bridge: Link,
  addresses: readonly PlannedAddress[],
): Promise<Link | undefined> {
  const { config, host } = call;
  const prefixes = gatewayPrefixes(addresses);
  if (prefixes.length === 0) return undefined;
  const link = config.vlan === 0 ? bridge : await ensureVlanGateway(host, bridge, config, call.random);
  await ensureAddresses(host, link, prefixes, config);
  for (const family of [4, 6] as const) {
    if (prefixes.some((prefix) => prefix.family === family)) await enableForwarding(host, family);
  }
  return link;
}

async function checkSources({ host, attachment, undo }: Call, pair: VethPair): Promise<void> {
  const { addSpoofCheck, removeSpoofCheck } = await import('../interface/host-rules.ts');
  undo.push('remove the check of source addresses', () => removeSpoofCheck(host, attachment));
  await addSpoofCheck(host, attachment, { hostLink: pair.host.name, mac: pair.containerMac });
}

/**
 * Waits until the way between container and network is open, and tells the network who is there now. The
 * links are read here, last, so that the result has what the kernel has.
 */
async function settle(
  call: Call,
  bridge: Link,
  pair: VethPair,
): Promise<{ readonly bridge: Link; readonly port: Link; readonly container: Link }> {
  const { host, container, config } = call;
  if (config.disableContainerInterface) {
    return {
      bridge: await host.links.get(bridge.index),
      port: await host.links.get(pair.host.index),
      container: await container.links.get(pair.containerIndex),
    };
  }
  const settled = await awaitForwarding(host, pair.host.index, bridge.index);
  const inside = await container.links.get(pair.containerIndex);
  if (!settled.forwards) {
    call.warn(
      `the spanning tree of ${config.bridge} holds ${settled.port.name} back for now: nothing is announced`,
    );
  } else if (hasIpam(config)) {
    await announce(container, inside);
  }
  return { bridge: settled.bridge, port: settled.port, container: inside };
}

/** The result's interfaces as far as addresses refer to them: bridge, host's end, container's end. */
function interfacesOf({ config, ifName, netnsPath }: Call): readonly Interface[] {
  return [{ name: config.bridge }, { name: '' }, { name: ifName, sandbox: netnsPath }];
}

function entryOf({ name, mac }: Link): Interface {
  return { name, ...(mac !== undefined && { mac: `${mac}` }) };
}

const CONTAINER_AT = 2;
