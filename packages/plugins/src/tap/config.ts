/** The configuration of the tap plugin. */
import { bool, dnsSchema, ipamSchema, mac, uint } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import * as v from 'valibot';

const id = uint(0xffff_fffe);

/** The members that the tap plugin reads. */
export const tapConfig = v.object({
  multiQueue: v.optional(bool, false),
  mtu: v.optional(uint(65535), 0),
  mac: v.optional(mac(), ''),
  /** Who may open the device, besides root; everybody who may open the clone device when both are left out. */
  owner: v.optional(id),
  group: v.optional(id),
  selinuxContext: v.optional(v.string(), ''),
  /** A bridge in the container, of which the device becomes a port. */
  bridge: v.optional(v.string(), ''),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
  runtimeConfig: v.optional(v.object({ mac: v.optional(mac()) })),
});

/** A valid configuration. */
export type TapConfig = v.InferOutput<typeof tapConfig>;

/**
 * The hardware address that somebody asked for. Of several the last in this order wins: the configuration's
 * `mac`, CNI_ARGS, `runtimeConfig`.
 */
export function requestedMac(config: TapConfig, fromArgs: string | undefined): Mac | undefined {
  const text = config.runtimeConfig?.mac || fromArgs || config.mac;
  return text === '' ? undefined : Mac.parse(text);
}
