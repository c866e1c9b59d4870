/** ADD: a veth pair between the container and the bridge, and with IPAM everything that layer 3 takes. */
import { CURRENT_VERSION, type Interface, type IpConfig, type Result, type Route } from '@heddle/cni';
import { type AddCall, ownerAlias } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import type { Link } from '@heddle/netlink';
import { announce, announcementSysctls } from '../interface/announce.ts';
import { addressesOf, applyResult } from '../interface/apply-result.ts';
import { chooseDns } from '../interface/dns.ts';
import { enableForwarding } from '../interface/forwarding.ts';
import { trySysctls } from '../interface/ipv6.ts';
import { masquerade } from '../interface/masquerade.ts';
import type { PlannedAddress } from '../interface/plan-routes.ts';
import { createVeth, type VethPair } from '../interface/veth.ts';
import { ensureBridge } from './bridge-link.ts';
import { type BridgeConfig, checkCombination, hasIpam, isGateway, requestedMac } from './config.ts';
import { defaultGateway, ensureAddresses, ensureVlanGateway, gatewayPrefixes } from './gateway.ts';
import { awaitForwarding, isForwarding, lookAt, type PortLook, setUpPort } from './port.ts';

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

  if (!hasIpam(config) && !config.disableContainerInterface) {
    await container.links.set(pair.containerIndex, { up: true });
  }
  const result = hasIpam(config) ? await addLayer3(call, pair) : {};
  const addresses = addressesOf(call.ifName, {
    interfaces: interfacesOf(call),
    ...result,
    cniVersion: CURRENT_VERSION,
  });
  const seen = await lookAt(host, pair.host.index, bridge.index);
  const gateway = isGateway(config) ? await addGateway(call, seen, addresses) : undefined;
  if (config.ipMasq && hasIpam(config)) await masquerade(call, addresses);
  const ends = await settle(
    call,
    pair,
    gateway?.isNew ? await lookAt(host, seen.port.index, bridge.index) : seen,
  );
  const dns = chooseDns(config.dns, result.dns);
  return {
    cniVersion: CURRENT_VERSION,
    interfaces: [
      entryOf(ends.bridge),
      entryOf(ends.port),
      { name: call.ifName, mac: `${pair.containerMac}`, sandbox: call.netnsPath },
      ...(gateway !== undefined && gateway.link.index !== bridge.index ? [entryOf(gateway.link)] : []),
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
  await trySysctls(container, {
    ...(config.enabledad && { [`${conf}/enhanced_dad`]: '1' }),
    [`${conf}/accept_dad`]: config.enabledad ? '1' : '0',
    ...announcementSysctls(ifName, ips),
  });
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

/** The link that is the gateway, and whether it has only now become it. */
interface Gateway {
  readonly link: Link;
  readonly isNew: boolean;
}

/** Puts the gateway on the host, and makes the host a router. */
async function addGateway(
  call: Call,
  { bridge, addresses: present }: PortLook,
  addresses: readonly PlannedAddress[],
): Promise<Gateway | undefined> {
  const { config, host } = call;
  const prefixes = gatewayPrefixes(addresses);
  if (prefixes.length === 0) return undefined;
  const isBridge = config.vlan === 0;
  const link = isBridge ? bridge : await ensureVlanGateway(host, bridge, config, call.random);
  const isNew = await ensureAddresses(host, link, prefixes, config, isBridge ? present : undefined);
  for (const family of [4, 6] as const) {
    if (prefixes.some((prefix) => prefix.family === family)) await enableForwarding(host, family);
  }
  return { link, isNew };
}

async function checkSources({ host, attachment, undo }: Call, pair: VethPair): Promise<void> {
  const { addSpoofCheck, removeSpoofCheck } = await import('../interface/host-rules.ts');
  undo.push('remove the check of source addresses', () => removeSpoofCheck(host, attachment));
  await addSpoofCheck(host, attachment, { hostLink: pair.host.name, mac: pair.containerMac });
}

/**
 * Waits until the way between container and network is open, and tells the network who is there now. What the result
 * says of the bridge and its port is as they are then.
 *
 * @param seen what has been seen of them
 */
async function settle(call: Call, pair: VethPair, seen: PortLook): Promise<PortLook> {
  const { host, container, config } = call;
  // Without the container's interface up, nothing comes up.
  if (config.disableContainerInterface) return seen;
  const settled = await awaitForwarding(host, seen);
  if (!isForwarding(settled.port)) {
    call.warn(
      `the spanning tree of ${config.bridge} holds ${settled.port.name} back for now: nothing is announced`,
    );
  } else if (hasIpam(config)) {
    await announce(container, { index: pair.containerIndex, mac: pair.containerMac });
  }
  return settled;
}

/** The result's interfaces as far as addresses refer to them: bridge, host's end, container's end. */
function interfacesOf({ config, ifName, netnsPath }: Call): readonly Interface[] {
  return [{ name: config.bridge }, { name: '' }, { name: ifName, sandbox: netnsPath }];
}

function entryOf({ name, mac }: Link): Interface {
  return { name, ...(mac !== undefined && { mac: `${mac}` }) };
}

const CONTAINER_AT = 2;
