/** The configuration of the bridge plugin: its schema, and what its members come to together. */
import { bool, ConfigError, dnsSchema, ipamSchema, mac, uint } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import * as v from 'valibot';
import { masqueradeBackend } from '../interface/masquerade.ts';
import { trunkEntry, trunkIds } from './vlan-trunk.ts';

const macHolder = v.object({ mac: v.optional(mac()) });

/** The members that the bridge plugin reads. */
export const bridgeConfig = v.object({
  bridge: v.optional(v.string(), 'cni0'),
  isGateway: v.optional(bool, false),
  isDefaultGateway: v.optional(bool, false),
  forceAddress: v.optional(bool, false),
  ipMasq: v.optional(bool, false),
  ipMasqBackend: v.optional(v.string(), ''),
  mtu: v.optional(uint(65535), 0),
  hairpinMode: v.optional(bool, false),
  promiscMode: v.optional(bool, false),
  vlan: v.optional(
    v.pipe(
      v.number(),
      v.check(
        (id) => Number.isInteger(id) && id >= 0 && id <= 4094,
        ({ input }) => `invalid VLAN ID ${input} (must be between 0 and 4094)`,
      ),
    ),
    0,
  ),
  vlanTrunk: v.optional(v.array(trunkEntry)),
  preserveDefaultVlan: v.optional(bool, false),
  macspoofchk: v.optional(bool, false),
  enabledad: v.optional(bool, false),
  disableContainerInterface: v.optional(bool, false),
  portIsolation: v.optional(bool, false),
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
