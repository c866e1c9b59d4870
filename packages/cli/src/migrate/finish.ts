/** The end of taking a node over: its last pod of the former network is gone, and so goes what that was made of. */
import { rmSync } from 'node:fs';
import { formerHandle, type NodeConfig, type WrittenNodeConfig } from '@heddle/agent';
import { fileStore, formatOwner } from '@heddle/ipam';
import { inspectStore, putSettings, readCluster, releaseHandle } from '@heddle/ipam/blocks';
import { type KernelSession, NetlinkError } from '@heddle/netlink';
import type { Store } from '@heddle/store';
import type { Cli } from '../command.ts';
import { startAgent } from '../node/agent-process.ts';
import { writeConfig } from '../node/config-file.ts';
import { refusal } from './former.ts';
import { formerRoutes } from './peers.ts';

/** What was done. */
export interface Finished {
  /** Devices that were removed. */
  readonly removed: readonly string[];
  /** Whether nodes take blocks as they need them from now on: this one was the last. */
  readonly isLast: boolean;
}

/**
 * Removes what is left of the former network, and has the node be one as all others. It can be done again when it was cut
 * short.
 *
 * @throws {CommandError} while pods are on it, or nodes are reached by it
 * @throws {NetlinkError} when the kernel refuses to delete a device
 * @throws {StoreError} as the store does
 */
export async function finishMigration(
  cli: Cli,
  config: NodeConfig,
  around: {
    readonly store: Store;
    readonly session: KernelSession;
    readonly program: readonly string[];
    readonly file: string;
    readonly force: boolean;
  },
): Promise<Finished> {
  const { store, session, program, file, force } = around;
  const { former, subnets: _, ...rest } = config;
  const removed: string[] = [];
  if (former !== undefined) {
    refusePods(former.reservations);
    const routes = await routesOf(config, store, session, force);
    await session.batch(
      routes.map(({ dst, link, metric }) => session.routes.plan.delete({ dst, link, metric })),
    );
    for (const name of [...former.overlays, ...(former.bridge === undefined ? [] : [former.bridge])]) {
      if (await deleted(session, name)) removed.push(name);
    }
    const { former: __, ...written }: WrittenNodeConfig = rest as WrittenNodeConfig;
    writeConfig(file, written);
    await startAgent(cli, program, file);
    rmSync(former.config, { force: true });
  }
  const member = { store, node: config.name, labels: config.labels, now: cli.now };
  await releaseHandle(member, formerHandle(config.name));
  const { handles } = await inspectStore(store);
  const isLast = !handles.some(({ handle, node }) => handle === formerHandle(node));
  const { settings } = await readCluster({ store });
  if (isLast && settings.mode === 'node-subnets') await putSettings(store, { mode: 'blocks' });
  return { removed, isLast };
}

function refusePods(reservations: string): void {
  const pods = fileStore({ directory: reservations }).list();
  if (pods.length === 0) return;
  const names = pods.map(({ addr, owner }) => `${formatOwner(owner)} (${addr})`);
  throw refusal(`pods of the former network are there: ${names.join(', ')}`, {
    hint: 'have them made anew; `heddle doctor` finds reservations of containers that are gone',
  });
}

/** The routes to other nodes by the former network, all of which are to have others by now. */
async function routesOf({ name: node }: NodeConfig, store: Store, session: KernelSession, force: boolean) {
  const { pools } = await inspectStore(store);
  const routes = await formerRoutes(
    session,
    pools.map(({ cidr }) => cidr),
  );
  const blocks = pools.flatMap((pool) => pool.blocks);
  const missing = routes
    .map(({ dst }) => dst)
    .filter(
      (dst) =>
        !blocks.some((block) => block.node !== undefined && block.node !== node && dst.overlaps(block.cidr)),
    );
  if (missing.length > 0 && !force) {
    throw refusal(`other nodes are reached by the former network: ${missing.join(', ')}`, {
      hint: 'take them over first; --force for nodes that are gone',
    });
  }
  return routes;
}

async function deleted(session: KernelSession, name: string): Promise<boolean> {
  try {
    await session.links.delete(name);
    return true;
  } catch (error) {
    if (NetlinkError.is(error, 'ENODEV')) return false;
    throw error;
  }
}
