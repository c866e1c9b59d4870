/** The configuration of the ipvlan plugin. */
import * as v from 'valibot';
import { stackedEntries } from '../stacked/index.ts';

/** The members that the ipvlan plugin reads. */
export const ipvlanConfig = v.object({
  ...stackedEntries,
  // The empty text is the default's name, too.
  mode: v.pipe(
    v.optional(v.picklist(['', 'l2', 'l3', 'l3s']), 'l2'),
    v.description('how it forwards: by hardware address, by IP address, or that with connection tracking'),
  ),
});

/** A valid configuration. */
export type IpvlanConfig = v.InferOutput<typeof ipvlanConfig>;

/** The mode of the configuration's link. */
export function modeOf({ mode }: IpvlanConfig) {
  return mode === '' ? 'l2' : mode;
}
