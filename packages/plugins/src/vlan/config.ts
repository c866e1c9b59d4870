/** The configuration of the vlan plugin. */
import * as v from 'valibot';
import { stackedEntries } from '../stacked/index.ts';

/** The members that the vlan plugin reads. */
export const vlanConfig = v.object({
  ...stackedEntries,
  master: v.pipe(v.string(), v.nonEmpty('expected the name of a link')),
  vlanId: v.optional(
    v.pipe(
      v.number(),
      v.check(
        (id) => Number.isInteger(id) && id >= 0 && id <= 4094,
        ({ input }) => `invalid VLAN ID ${input} (must be between 0 and 4094)`,
      ),
    ),
    0,
  ),
});

/** A valid configuration. */
export type VlanConfig = v.InferOutput<typeof vlanConfig>;
