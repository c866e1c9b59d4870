/** The configuration of the plugin heddle. */
import { dnsSchema, uint } from '@heddle/cni';
import * as v from 'valibot';
import { addressEntries, requestEntries } from '../cluster/config.ts';

/** The members that heddle reads. */
export const heddleConfig = v.object({
  ...addressEntries,
  mtu: v.pipe(
    v.optional(uint(65535), 0),
    v.description('what packets may measure; 0 for what reaches every other pod whole, which the node knows'),
  ),
  dns: v.optional(dnsSchema),
  ...requestEntries,
});

/** A valid configuration. */
export type HeddleConfig = v.InferOutput<typeof heddleConfig>;
