/** The configuration of the vrf plugin. */
import { uint } from '@heddle/cni';
import * as v from 'valibot';

/** The members that the vrf plugin reads. */
export const vrfConfig = v.object({
  vrfname: v.pipe(
    v.string(),
    v.nonEmpty('configuration is expected to have a valid vrf name: vrfname is empty'),
    v.description('the VRF in the container; it is made when it is missing'),
  ),
  table: v.pipe(
    v.optional(uint(0xffff_ffff), 0),
    v.description("the VRF's routing table; 0 for any that is free"),
  ),
});

/** A valid configuration. */
export type VrfConfig = v.InferOutput<typeof vrfConfig>;
