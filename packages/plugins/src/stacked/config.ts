/** What the configurations of all links that sit on another one have in common. */
import { bool, dnsSchema, int, ipamSchema } from '@heddle/cni';
import * as v from 'valibot';

/** The members; a plugin adds its own. */
export const stackedEntries = {
  master: v.pipe(
    v.optional(v.string(), ''),
    v.description('the link below; that of the default route unless set'),
  ),
  // Its bounds are the master's matter, see `checkMtu`.
  mtu: v.pipe(v.optional(int(), 0), v.description("what packets may measure; 0 for the master's")),
  linkInContainer: v.pipe(v.optional(bool, false), v.description('whether the master is in the container')),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
};

const stackedConfig = v.object(stackedEntries);

/** The common part of a valid configuration. */
export type StackedConfig = v.InferOutput<typeof stackedConfig>;

/** Whether an address management plugin is configured. */
export function hasIpam({ ipam }: Pick<StackedConfig, 'ipam'>): boolean {
  return ipam !== undefined && ipam.type !== '';
}
