/** The configuration of the bridge plugin: its schema, and what its members come to together. */
import { bool, ConfigError, dnsSchema, ipamSchema, mac, UsageError, uint, validateIfName } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import * as v from 'valibot';
import { masqueradeBackend, masqueradeEntries } from '../interface/masquerade.ts';
import { vlanId } from '../interface/vlan-id.ts';
import { trunkEntry, trunkIds } from './vlan-trunk.ts';

const macHolder = v.object({
  mac: v.pipe(v.optional(mac()), v.description("the hardware address of the container's interface")),
});

/** The members that the bridge plugin reads. */
export const bridgeConfig = v.object({
  bridge: v.pipe(
    v.optional(bridgeName(), 'cni0'),
    v.description('the bridge; it is made when it is missing, and never deleted'),
  ),
  isGateway: v.pipe(
    v.optional(bool, false),
    v.description("whether the bridge has the gateway's address in each subnet, and the host routes"),
  ),
  isDefaultGateway: v.pipe(
    v.optional(bool, false),
    v.description('whether the container has default routes by the bridge, too'),
  ),
  forceAddress: v.pipe(
    v.optional(bool, false),
    v.description('whether other addresses of the bridge in the way of the gateway are removed'),
  ),
  ...masqueradeEntries,
  mtu: v.pipe(
    v.optional(uint(65535), 0),
    v.description("what packets may measure; 0 for the kernel's default"),
  ),
  hairpinMode: v.pipe(
    v.optional(bool, false),
    v.description(
      'whether frames may leave by the port that they came in by: for a container that talks to itself by a service',
    ),
  ),
  promiscMode: v.pipe(
    v.optional(bool, false),
    v.description('whether the bridge is promiscuous; excludes `hairpinMode`'),
  ),
  vlan: v.pipe(
    v.optional(vlanId(), 0),
    v.description('the VLAN of untagged frames of the container; 0 for none'),
  ),
  vlanTrunk: v.pipe(
    v.optional(v.array(trunkEntry)),
    v.description('the VLANs of tagged frames of the container'),
  ),
  preserveDefaultVlan: v.pipe(
    v.optional(bool, false),
    v.description('whether the port stays in VLAN 1, too'),
  ),
  macspoofchk: v.pipe(
    v.optional(bool, false),
    v.description(
      'whether frames with a source address other than the hardware address of the container are dropped',
    ),
  ),
  enabledad: v.pipe(
    v.optional(bool, false),
    v.description('whether IPv6 addresses are looked for in the network before they are used'),
  ),
  disableContainerInterface: v.pipe(
    v.optional(bool, false),
    v.description("whether the container's interface stays down; excludes `ipam`"),
  ),
  portIsolation: v.pipe(
    v.optional(bool, false),
    v.description('whether the container cannot reach other isolated ports of the bridge'),
  ),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
  args: v.optional(v.object({ cni: v.optional(macHolder) })),
  runtimeConfig: v.optional(macHolder),
});

/** A valid configuration. */
export type BridgeConfig = v.InferOutput<typeof bridgeConfig>;

/** Whether the bridge is to hold the gateway's addresses. A default gateway is a gateway. */
export function isGateway(config: BridgeConfig): boolean {
  return config.isGateway || config.isDefaultGateway;
}

/** Whether an address management plugin is configured; without one, the network is a layer 2 one. */
export function hasIpam(config: BridgeConfig): boolean {
  return config.ipam !== undefined && config.ipam.type !== '';
}

/** Which VLANs the attachment's port is in. */
export interface PortVlans {
  /** The VLAN of untagged frames; 0 when nothing is configured. */
  readonly untagged: number;
  /** The VLANs of tagged frames, ascending. */
  readonly tagged: readonly number[];
}

/** The port's VLANs. A trunk without a VLAN of its own keeps untagged frames in VLAN 1, as the reference does. */
export function portVlans({ vlan, vlanTrunk = [] }: BridgeConfig): PortVlans {
  const tagged = trunkIds(vlanTrunk);
  return { untagged: vlan === 0 && tagged.length > 0 ? 1 : vlan, tagged };
}

/** Whether the bridge must filter VLANs: also for an empty trunk, as in the reference. */
export function filtersVlans({ vlan, vlanTrunk }: BridgeConfig): boolean {
  return vlan !== 0 || vlanTrunk !== undefined;
}

/**
 * The hardware address that somebody asked for. Of several the last in this order wins: CNI_ARGS, `args.cni`,
 * `runtimeConfig`.
 */
export function requestedMac(config: BridgeConfig, fromArgs: string | undefined): Mac | undefined {
  const text = config.runtimeConfig?.mac || config.args?.cni?.mac || fromArgs || '';
  return text === '' ? undefined : Mac.parse(text);
}

/** @throws {ConfigError} for members that exclude each other, or make no sense together; only ADD minds. */
export function checkCombination(config: BridgeConfig): void {
  if (config.ipMasq) masqueradeBackend(config);
  if (config.hairpinMode && config.promiscMode) {
    throw new ConfigError('hairpinMode and promiscMode exclude each other', { pointer: '/hairpinMode' });
  }
  if (config.disableContainerInterface && hasIpam(config)) {
    throw new ConfigError(
      'disableContainerInterface and ipam exclude each other: an interface that is down has no addresses',
      {
        pointer: '/disableContainerInterface',
      },
    );
  }
}

/** A name that the kernel takes for a link. */
function bridgeName() {
  return v.pipe(
    v.string(),
    v.check(isLinkName, 'expected the name of a link, of at most 15 bytes and without spaces, / and :'),
    v.metadata({ pattern: '^[^/:\\s]{1,15}$' }),
  );
}

function isLinkName(text: string): boolean {
  try {
    validateIfName(text);
    return true;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}
