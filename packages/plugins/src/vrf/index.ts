/**
 * vrf: puts the container's interface into a VRF, virtual routing and forwarding, so that it shares its routes with the
 * other interfaces of that VRF and with no others. A chained plugin. All that it makes is in the container's namespace,
 * so nothing is left for garbage collection.
 */
import { versionsFrom } from '@heddle/cni';
import { definePlugin } from '@heddle/cni/plugin';
import { requireLinkKind } from '../interface/kernel-support.ts';
import { add } from './add.ts';
import { check } from './check.ts';
import { vrfConfig } from './config.ts';
import { del } from './del.ts';

/** The vrf plugin. */
export const vrf = definePlugin({
  type: 'vrf',
  kind: 'meta',
  about: 'gives interfaces of the container routing of their own',
  versions: versionsFrom('0.3.1'),
  config: vrfConfig,
  add,
  del,
  check,
  gc: async () => {},
  // The container's kernel is the host's.
  status: ({ host }) => requireLinkKind(host, 'vrf'),
});
