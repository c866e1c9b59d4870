/** The configuration of the vlan plugin. */
import * as v from 'valibot';
import { vlanId } from '../interface/vlan-id.ts';
import { stackedEntries } from '../stacked/index.ts';

/** The members that the vlan plugin reads. */
export const vlanConfig = v.object({
  ...stackedEntries,
  master: v.pipe(v.string(), v.nonEmpty('expected the name of a link'), v.description('the link below')),
  vlanId: v.pipe(v.optional(vlanId(), 0), v.description('the VLAN; 0 for frames with a priority only')),
});

/** A valid configuration. */
export type VlanConfig = v.InferOutput<typeof vlanConfig>;
