/** The configuration of the ptp plugin. */
import { dnsSchema, ipamSchema, uint } from '@heddle/cni';
import * as v from 'valibot';
import { masqueradeEntries } from '../interface/masquerade.ts';

/** The members that the ptp plugin reads. */
export const ptpConfig = v.object({
  ...masqueradeEntries,
  mtu: v.pipe(
    v.optional(uint(65535), 0),
    v.description("what packets may measure; 0 for the kernel's default"),
  ),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
});

/** A valid configuration. */
export type PtpConfig = v.InferOutput<typeof ptpConfig>;
