/** What the configurations of all links that sit on another one have in common. */
import { bool, dnsSchema, int, ipamSchema } from '@heddle/cni';
import * as v from 'valibot';

/** The members; a plugin adds its own. */
export const stackedEntries = {
  /** The link below; '' for the one that the plugin chooses. */
  master: v.optional(v.string(), ''),
  /** 0 for the master's. Its bounds are the master's matter, see `checkMtu`. */
  mtu: v.optional(int(), 0),
  /** Whether the master is in the container. */
  linkInContainer: v.optional(bool, false),
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
