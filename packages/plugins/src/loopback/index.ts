/**
 * The plugin `loopback`: sets `lo` of the container up. It has no configuration of its own, and CNI_IFNAME does
 * not matter.
 */
import { CNI_CODE, CniError, CURRENT_VERSION, type IpConfig, type Result } from '@heddle/cni';
import { type AddCall, type CheckCall, type DelCall, definePlugin } from '@heddle/cni/plugin';
import type { Address } from '@heddle/netlink';
import * as v from 'valibot';
import { reportDrift } from '../interface/findings.ts';

/** The plugin; see the comment of this module. */
export const loopback = definePlugin({
  type: 'loopback',
  kind: 'main',
  about: "the container's loopback interface",
  config: v.object({}),
  add,
  del,
  check,
  gc: async () => {},
  status: async () => {},
});

/** Sets `lo` up. With a previous result, that is the result: this plugin adds nothing to it. */
async function add({ container, netnsPath, prevResult }: AddCall<object>): Promise<Result> {
  await container.links.set(LOOPBACK, { up: true });
  const addresses = await container.addresses.list({ link: LOOPBACK });
  const stranger = addresses.find(({ prefix }) => !prefix.addr.isLoopback);
  if (stranger !== undefined) {
    throw new CniError(
      CNI_CODE.INVALID_NETNS,
      `${LOOPBACK} has ${stranger.prefix}, which is no loopback address`,
    );
  }
  if (prevResult !== undefined) return prevResult;
  return {
    cniVersion: CURRENT_VERSION,
    interfaces: [{ name: LOOPBACK, mac: '00:00:00:00:00:00', sandbox: netnsPath }],
    ips: ([4, 6] as const).flatMap((family) => firstOf(addresses, family)),
  };
}

async function del({ container, teardown }: DelCall<object>): Promise<void> {
  await teardown.step(`set ${LOOPBACK} down`, () => container?.links.set(LOOPBACK, { up: false }));
}

async function check({ container }: CheckCall<object>): Promise<void> {
  const { up } = await container.links.get(LOOPBACK);
  reportDrift(up ? [] : [`link ${LOOPBACK} should be up`]);
}

function firstOf(addresses: readonly Address[], family: 4 | 6): readonly IpConfig[] {
  const first = addresses.find(({ prefix }) => prefix.family === family);
  return first === undefined ? [] : [{ address: `${first.prefix}`, interface: 0 }];
}

const LOOPBACK = 'lo';
