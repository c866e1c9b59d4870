/** CHECK: the attachment is still what ADD made of it. */
import type { Interface, Result } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import { addressesOf } from '../interface/apply-result.ts';
import {
  checkLink,
  checkNetworkLayer,
  containerInterface,
  type Findings,
  onlyOf,
  reportDrift,
  requirePrevResult,
} from '../interface/findings.ts';
import { checkRules } from './check-rules.ts';
import { type BridgeConfig, hasIpam, isGateway, type PortVlans, portVlans } from './config.ts';
import { gatewayPrefixes, vlanGatewayName } from './gateway.ts';

type Call = CheckCall<BridgeConfig>;

/** See the file's comment. All that is different is reported at once. */
export async function check(call: Call): Promise<void> {
  const { config, host, container, ifName } = call;
  if (hasIpam(config)) await call.ipam.check();
  const whole = requirePrevResult(call.prevResult);
  const { index, entry } = containerInterface(whole, ifName, call.netnsPath);
  const result = onlyOf(whole, index);
  const bridge = await host.links.find(config.bridge);
  const inside = await container.links.find(ifName);
  reportDrift([
    ...checkBridge(call, bridge, result),
    ...checkLink(ifName, inside, { kind: 'veth', up: !config.disableContainerInterface, mac: entry.mac }),
    ...(inside === undefined ? [] : await checkHostEnd(call, inside, bridge, result)),
    ...(inside === undefined || !hasIpam(config)
      ? []
      : await checkNetworkLayer(container, inside, result, index)),
    ...(isGateway(config) ? await checkGateway(call, result) : []),
    ...(await checkRules(call, result, inside)),
  ]);
}

function checkBridge({ config }: Call, bridge: Link | undefined, result: Result): Findings {
  const entry = hostEntry(result, config.bridge);
  // A bridge that is no gateway may be somebody else's, and follow its ports' hardware addresses.
  const mac = isGateway(config) && config.vlan === 0 ? entry?.mac : undefined;
  const promiscuous = bridge === undefined || !config.promiscMode || bridge.promiscuity > 0;
  return [
    ...(entry === undefined ? [`prevResult has no interface ${config.bridge} on the host`] : []),
    ...checkLink(config.bridge, bridge, { kind: 'bridge', up: true, mac }),
    ...(promiscuous ? [] : [`bridge ${config.bridge} should be promiscuous`]),
  ];
}

async function checkHostEnd(
  { config, host, ifName }: Call,
  inside: Link,
  bridge: Link | undefined,
  result: Result,
): Promise<Findings> {
  const end = inside.parent === undefined ? undefined : await host.links.find(inside.parent);
  if (end === undefined || end.kind !== 'veth' || end.parent !== inside.index) {
    return [`the host's end of ${ifName} is missing`];
  }
  const entry = hostEntry(result, end.name);
  return [
    ...(entry === undefined ? [`prevResult does not have ${end.name}, the host's end of ${ifName}`] : []),
    ...checkLink(end.name, end, { kind: 'veth', up: true, mac: entry?.mac }),
    ...(bridge === undefined || end.master === bridge.index
      ? []
      : [`link ${end.name} should be a port of ${config.bridge}`]),
    ...flagFindings(end, 'hairpin', config.hairpinMode),
    ...flagFindings(end, 'isolated', config.portIsolation),
    ...(await vlanFindings(host, end, portVlans(config), config)),
  ];
}

function flagFindings({ name, port }: Link, flag: 'hairpin' | 'isolated', wanted: boolean): Findings {
  if (port === undefined || port[flag] === wanted) return [];
  return [
    `port ${name} should ${wanted ? '' : 'not '}be ${flag === 'hairpin' ? 'in hairpin mode' : 'isolated'}`,
  ];
}

async function vlanFindings(
  host: Call['host'],
  { name, index, master }: Link,
  { untagged, tagged }: PortVlans,
  { preserveDefaultVlan }: BridgeConfig,
): Promise<Findings> {
  if (untagged === 0 || master === undefined) return [];
  const vlans = await host.bridge.vlans(index);
  const own = vlans.find(({ id }) => id === untagged);
  const present = vlans.map(({ id }) => id);
  const wanted = [untagged, ...tagged];
  return [
    ...(own?.pvid && own.untagged ? [] : [`port ${name} should be untagged in VLAN ${untagged}`]),
    ...tagged.filter((id) => !present.includes(id)).map((id) => `port ${name} should be in VLAN ${id}`),
    // The bridge's default VLAN may be any.
    ...(preserveDefaultVlan ? [] : present.filter((id) => !wanted.includes(id))).map(
      (id) => `port ${name} should not be in VLAN ${id}`,
    ),
  ];
}

async function checkGateway(call: Call, result: Result): Promise<Findings> {
  const { config, host, ifName } = call;
  const name = config.vlan === 0 ? config.bridge : vlanGatewayName(config);
  const link = await host.links.find(name);
  if (link === undefined) return [`the gateway's link ${name} is missing`];
  const present = await host.addresses.list({ link: link.index });
  return [
    ...(config.vlan === 0 ? [] : await checkVlanGateway(call, link, result)),
    ...gatewayPrefixes(addressesOf(ifName, result))
      .filter((prefix) => !present.some((address) => address.prefix.equals(prefix)))
      .map((prefix) => `the gateway's address ${prefix} is missing on ${name}`),
  ];
}

async function checkVlanGateway({ config, host }: Call, link: Link, result: Result): Promise<Findings> {
  const { name, kind = 'veth', parent } = link;
  const port = parent === undefined ? undefined : await host.links.find(parent);
  return [
    ...checkLink(name, link, { kind, up: true, mac: hostEntry(result, name)?.mac }),
    ...(port === undefined
      ? []
      : await vlanFindings(host, port, { untagged: config.vlan, tagged: [] }, config)),
  ];
}

function hostEntry({ interfaces = [] }: Result, name: string): Interface | undefined {
  return interfaces.find((each) => each.name === name && !each.sandbox);
}
