/** The configuration of the ptp plugin. */
import { bool, dnsSchema, ipamSchema, uint } from '@heddle/cni';
import * as v from 'valibot';

/** The members that the ptp plugin reads. */
export const ptpConfig = v.object({
  ipMasq: v.optional(bool, false),
  ipMasqBackend: v.optional(v.string(), ''),
  mtu: v.optional(uint(65535), 0),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
});

/** A valid configuration. */
export type PtpConfig = v.InferOutput<typeof ptpConfig>;
