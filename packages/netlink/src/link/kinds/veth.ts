/** VETH_INFO_* — linux/veth.h; link kind "veth" */
import { attr, attrs, headed } from '@heddle/wire';
import { ifinfomsg, linkFields } from '../fields.ts';

/** Data of a veth link being made: the whole description of the other end. The kernel does not give it back. */
export const veth = attrs('VETH_INFO', {
  peer: attr(1, headed(ifinfomsg, attrs('IFLA', linkFields))),
});
