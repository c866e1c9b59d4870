/** The configuration of static. Texts are checked when an address is wanted, for DEL must not mind them. */
import { cidrText, dnsSchema, ipText, routeSchema } from '@heddle/cni';
import * as v from 'valibot';

const texts = v.pipe(
  v.optional(v.array(v.string()), []),
  v.description(
    'addresses instead of the configured ones; they may borrow prefix length and gateway of these',
  ),
);

/** The members that static reads. */
export const staticConfig = v.object({
  ipam: v.optional(
    v.object({
      addresses: v.optional(
        v.array(
          v.pipe(
            v.object({
              address: v.pipe(
                v.optional(cidrText(), ''),
                v.description('an address with its prefix length, such as 192.0.2.10/24'),
              ),
              gateway: v.pipe(v.optional(ipText(), ''), v.description('its gateway')),
            }),
            v.metadata({ required: ['address'] }),
          ),
        ),
        [],
      ),
      routes: v.pipe(v.optional(v.array(routeSchema), []), v.description('routes, as the result has them')),
      dns: v.optional(dnsSchema),
    }),
  ),
  args: v.optional(v.object({ cni: v.optional(v.object({ ips: texts })) })),
  runtimeConfig: v.optional(v.object({ ips: texts })),
});

/** A valid configuration. */
export type StaticConfig = v.InferOutput<typeof staticConfig>;
