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
  device: v.pipe(v.optional(v.string(), ''), v.description('the device by the name of its link')),
  hwaddr: v.pipe(v.optional(mac(), ''), v.description('the device by its hardware address')),
  kernelpath: v.pipe(
    v.optional(v.string(), ''),
    v.description('the device by its path in sysfs, such as /sys/devices/pci0000:00/0000:00:1f.6'),
  ),
  pciBusID: v.pipe(
    v.optional(busId, ''),
    v.description('the device by its place on the PCI bus, such as 0000:00:1f.6'),
  ),
  runtimeConfig: v.optional(
    v.object({
      deviceID: v.pipe(
        v.optional(busId, ''),
        v.description('the device by its place on a bus, instead of `pciBusID`'),
      ),
    }),
  ),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
});

/** A valid configuration. */
export type HostDeviceConfig = v.InferOutput<typeof hostDeviceConfig>;
