/** The configuration of heddle-ipam. */
import { ConfigError, routeSchema } from '@heddle/cni';
import * as v from 'valibot';
import { type AddressChoice, addressEntries, requestEntries } from '../cluster/config.ts';

/** The members that heddle-ipam reads. */
export const heddleIpamConfig = v.object({
  ipam: v.optional(
    v.object({
      ...addressEntries,
      routes: v.pipe(
        v.optional(v.array(routeSchema)),
        v.description('routes, as the result has them; one to everywhere for each family unless set'),
      ),
    }),
  ),
  ...requestEntries,
});

/** A valid configuration. */
export type HeddleIpamConfig = v.InferOutput<typeof heddleIpamConfig>;

/** @throws {ConfigError} when there is no `ipam` object */
export function ipamOf({ ipam }: HeddleIpamConfig): NonNullable<HeddleIpamConfig['ipam']> {
  if (ipam === undefined) throw new ConfigError("IPAM config missing 'ipam' key", { pointer: '/ipam' });
  return ipam;
}

/** The choice for taking something down, which must not mind a configuration without `ipam`. */
export function choiceOf({ ipam }: HeddleIpamConfig): AddressChoice {
  return ipam ?? { nodeSocket: '', nodeWaiting: '' };
}
