/** Takes a node over, or leaves it as it was. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type AgentStatus,
  disconnectBridge,
  type FormerNetworkConfig,
  parseNodeConfig,
  type WrittenNodeConfig,
} from '@heddle/agent';
import { putPool, putSettings, readCluster, removePool } from '@heddle/ipam/blocks';
import { withdrawRouting } from '@heddle/routing';
import type { Store } from '@heddle/store';
import type { Cli } from '../command.ts';
import { appear, applySteps } from '../install/apply.ts';
import type { Step } from '../install/plan.ts';
import { remember } from '../install/remember.ts';
import { startAgent } from '../node/agent-process.ts';
import { writeConfig } from '../node/config-file.ts';
import { leaveCluster } from '../node/leave.ts';
import { clusterNetwork } from '../node/network.ts';
import type { MigrationPlan } from './plan.ts';

/** Where everything goes. */
export interface MigrationPlaces {
  /** The node's configuration. */
  readonly config: string;
  /** The cluster's network, for runtimes. */
  readonly network: string;
  /** The former one's configuration, out of their sight. */
  readonly aside: string;
}

/**
 * Does what the plan says. Runtimes see the cluster's network only when all addresses of the former one's pods are held.
 *
 * @returns the agent
 * @throws whatever went wrong, when everything is as it was before
 */
export async function applyMigration(
  cli: Cli,
  plan: MigrationPlan,
  config: WrittenNodeConfig,
  around: {
    readonly store: Store;
    readonly program: readonly string[];
    readonly plugins: readonly Step[];
    readonly places: MigrationPlaces;
  },
): Promise<AgentStatus> {
  const { store, program, plugins, places } = around;
  await using undo = new AsyncDisposableStack();
  await changeStore(store, plan, undo);
  undo.defer(remember(places.config));
  writeConfig(places.config, config);
  for (const { path, do: what } of plugins)
    if (what !== 'keep' && what !== 'skip') undo.defer(remember(path));
  applySteps(plugins);
  undo.defer(async () => {
    await leaveCluster(cli, parseNodeConfig(config, places.config), true);
    using session = cli.openHost();
    await withdrawRouting(session);
    if (plan.former.bridge !== undefined) await disconnectBridge(session, plan.former.bridge);
  });
  const agent = await startAgent(cli, program, places.config);
  changeNetwork(plan, places, undo);
  // It is done: nothing is to be undone.
  undo.move();
  return agent;
}

async function changeStore(
  store: Store,
  { pools, setsMode }: MigrationPlan,
  undo: AsyncDisposableStack,
): Promise<void> {
  if (setsMode) {
    const { settings } = await readCluster({ store });
    await putSettings(store, { mode: 'node-subnets' });
    undo.defer(async () => void (await putSettings(store, { mode: settings.mode })));
  }
  for (const pool of pools) {
    await putPool(store, pool);
    undo.defer(async () => {
      await putPool(store, { ...pool, disabled: true });
      await removePool(store, pool.name);
    });
  }
}

/** First the new one, then the old one away: in between runtimes still see the old one, which sorts before it or not. */
function changeNetwork(
  { former }: MigrationPlan,
  { network, aside }: MigrationPlaces,
  undo: AsyncDisposableStack,
): void {
  undo.defer(remember(network));
  appear(network, (draft) => writeFileSync(draft, clusterNetwork(), { mode: 0o644, flush: true }));
  if (former.config === aside) return;
  setAside(former.config, aside);
}

/** Gives a node that leaves its cluster its former network back, which it has pods of or may have again. */
export async function restoreFormer(
  cli: Cli,
  { config, bridge }: FormerNetworkConfig,
  configDir: string,
): Promise<void> {
  using session = cli.openHost();
  if (bridge !== undefined) await disconnectBridge(session, bridge);
  if (existsSync(config)) setAside(config, join(configDir, basename(config)));
}

/** Moves a file, also to another file system, so that it is whole in one of the two places. */
function setAside(from: string, to: string): void {
  appear(to, (draft) => writeFileSync(draft, readFileSync(from), { mode: 0o644, flush: true }));
  rmSync(from);
}
