/** The configuration of the host-device plugin. */
import { dnsSchema, ipamSchema, mac } from '@heddle/cni';
import * as v from 'valibot';

/** A device's identifier on a bus: one name of a directory. */
const busId = v.pipe(
  v.string(),
  v.regex(/^(?!\.{1,2}$)[\w.:-]*$/, ({ input }) => `invalid device identifier: ${input}`),
);

/** The members that the host-device plugin reads. Of several that name a device, the first in this order wins. */
export const hostDeviceConfig = v.object({
  device: v.optional(v.string(), ''),
  hwaddr: v.optional(mac(), ''),
  kernelpath: v.optional(v.string(), ''),
  pciBusID: v.optional(busId, ''),
  runtimeConfig: v.optional(v.object({ deviceID: v.optional(busId, '') })),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
});

/** A valid configuration. */
export type HostDeviceConfig = v.InferOutput<typeof hostDeviceConfig>;
