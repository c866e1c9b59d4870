/** What other nodes' packets arrive at, made before they are told to send any. */
import { release } from 'node:os';
import { hasVxlanChecksumFault, ROUTE_PROTOCOL } from '@heddle/dataplane';
import type { Pool } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import { type KernelSession, RT_SCOPE } from '@heddle/netlink';
import { Calculator } from './calculate/calculator.ts';
import { OVERLAY_DEVICES } from './calculate/overlays.ts';
import type { OwnNode } from './calculate/view.ts';
import { systemClock } from './clock.ts';
import { Reconciler } from './kernel/reconciler.ts';

/**
 * Makes the node's overlay devices, unless an agent before this one has made some. Blocks of the node with pods that send already can then be
 * told to others: from that moment on their packets come in by these devices. The router takes over what it finds.
 *
 * @throws {NetlinkError} when the kernel does not answer; a device that it refuses the router tells of
 */
export async function prepareOverlays(
  session: KernelSession,
  own: OwnNode,
  pools: readonly Pool[],
): Promise<void> {
  const present = new Set((await session.links.list()).map(({ name }) => name));
  if (OVERLAY_DEVICES.some(({ name }) => present.has(name))) return;
  const calculator = new Calculator(own);
  for (const pool of pools) calculator.setPool(pool.name, pool);
  const reconciler = new Reconciler(session, systemClock, hasVxlanChecksumFault(release()));
  // Routes of others and of before are none of its business yet.
  reconciler.note(calculator.delta());
  await reconciler.resync(['link', 'sysctl'], true);
  await session.batch(
    [...reconciler.devices.indexes.values()].map((link) =>
      session.addresses.plan.replace({
        link,
        prefix: STAND_IN,
        scope: RT_SCOPE.LINK,
        protocol: ROUTE_PROTOCOL,
      }),
    ),
  );
}

/**
 * Until there are routes by a device, the kernel takes no IPv4 packets from it unless it has an address: rp_filter lets
 * nothing in otherwise. The router, which does not want this one, takes it away.
 */
const STAND_IN = Prefix.parse('169.254.72.72/32');
