/** The configuration of the tap plugin. */
import { bool, dnsSchema, ipamSchema, mac, uint } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import * as v from 'valibot';

const id = uint(0xffff_fffe);

/** The members that the tap plugin reads. */
export const tapConfig = v.object({
  multiQueue: v.pipe(v.optional(bool, false), v.description('whether the device has several queues')),
  mtu: v.pipe(
    v.optional(uint(65535), 0),
    v.description("what packets may measure; 0 for the kernel's default"),
  ),
  mac: v.pipe(v.optional(mac(), ''), v.description('the hardware address')),
  owner: v.pipe(
    v.optional(id),
    v.description(
      'the user who may open the device, besides root; without `owner` and `group`, everybody who may open the clone device',
    ),
  ),
  group: v.pipe(v.optional(id), v.description('the group that may open the device')),
  selinuxContext: v.pipe(v.optional(v.string(), ''), v.description('the SELinux context of the device')),
  bridge: v.pipe(
    v.optional(v.string(), ''),
    v.description('a bridge in the container, of which the device becomes a port'),
  ),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
  runtimeConfig: v.optional(
    v.object({ mac: v.pipe(v.optional(mac()), v.description('the hardware address, before that of `mac`')) }),
  ),
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
