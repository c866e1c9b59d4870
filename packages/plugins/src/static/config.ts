/** The configuration of static. Texts are checked when an address is wanted, for DEL must not mind them. */
import { dnsSchema, routeSchema } from '@heddle/cni';
import * as v from 'valibot';

const texts = v.optional(v.array(v.string()), []);

/** The members that static reads. */
export const staticConfig = v.object({
  ipam: v.optional(
    v.object({
      addresses: v.optional(
        v.array(v.object({ address: v.optional(v.string(), ''), gateway: v.optional(v.string(), '') })),
        [],
      ),
      routes: v.optional(v.array(routeSchema), []),
      dns: v.optional(dnsSchema),
    }),
  ),
  args: v.optional(v.object({ cni: v.optional(v.object({ ips: texts })) })),
  runtimeConfig: v.optional(v.object({ ips: texts })),
});

/** A valid configuration. */
export type StaticConfig = v.InferOutput<typeof staticConfig>;
