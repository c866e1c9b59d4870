/** The configuration of the dummy plugin. */
import { ConfigError, ipamSchema } from '@heddle/cni';
import * as v from 'valibot';

/** The members that the dummy plugin reads. */
export const dummyConfig = v.object({ ipam: v.optional(ipamSchema) });

/** A valid configuration. */
export type DummyConfig = v.InferOutput<typeof dummyConfig>;

/** @throws {ConfigError} when nobody gives addresses: without one the interface is of no use */
export function requireIpam({ ipam }: DummyConfig): void {
  if (ipam !== undefined && ipam.type !== '') return;
  throw new ConfigError('dummy interface requires an IPAM configuration', { pointer: '/ipam' });
}
