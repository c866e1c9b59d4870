/** The configuration of the macvlan plugin. */
import { mac, uint } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import * as v from 'valibot';
import { stackedEntries } from '../stacked/index.ts';

/** The members that the macvlan plugin reads. */
export const macvlanConfig = v.object({
  ...stackedEntries,
  // The empty text is the default's name, too.
  mode: v.pipe(
    v.optional(v.picklist(['', 'bridge', 'private', 'vepa', 'passthru']), 'bridge'),
    v.description('whom containers on the same master reach'),
  ),
  bcqueuelen: v.pipe(
    v.optional(uint(0xffff_ffff), 0),
    v.description("how many broadcast frames may wait for copying; 0 for the kernel's default"),
  ),
  mac: v.pipe(v.optional(mac()), v.description('the hardware address')),
  runtimeConfig: v.optional(
    v.object({ mac: v.pipe(v.optional(mac()), v.description('the hardware address, before that of `mac`')) }),
  ),
});

/** A valid configuration. */
export type MacvlanConfig = v.InferOutput<typeof macvlanConfig>;

/** The mode of the configuration's link. */
export function modeOf({ mode }: MacvlanConfig) {
  return mode === '' ? 'bridge' : mode;
}

/**
 * The hardware address that somebody asked for. Of several the last in this order wins: `mac`, CNI_ARGS,
 * `runtimeConfig`.
 */
export function requestedMac(config: MacvlanConfig, fromArgs: string | undefined): Mac | undefined {
  const text = config.runtimeConfig?.mac || fromArgs || config.mac || '';
  return text === '' ? undefined : Mac.parse(text);
}
