/** ADD: packets from the container's addresses on this interface leave by it, whatever other interfaces there are. */
import { ConfigError, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import { ROUTING_TABLES } from '@heddle/dataplane';
import { Prefix } from '@heddle/netaddr';
import { type Change, type KernelSession, NetlinkError, type RouteSpec } from '@heddle/netlink';
import { withNetnsLock } from '../interface/netns-lock.ts';
import { freeTables, MAIN_TABLE, onLinkFirst, ownRoute } from '../interface/route-tables.ts';
import { gatewaysOf, type SbrConfig } from './config.ts';
import { type MainPlan, planMain, planSources, type SourcePlan, sourceRule } from './plan.ts';
import { type Source, sourcesOf } from './sources.ts';

type Call = AddCall<SbrConfig>;

/** See the file's comment. */
export async function add(call: Call): Promise<Result> {
  const { config, container, ifName, prevResult } = call;
  gatewaysOf(config);
  if (prevResult === undefined) {
    throw new ConfigError('This plugin must be called as chained plugin', { pointer: '/prevResult' });
  }
  const sources = sourcesOf(prevResult, ifName);
  await withNetnsLock(container.handle, () => routeBySource(call, sources));
  return prevResult;
}

async function routeBySource(call: Call, sources: readonly Source[]): Promise<void> {
  const { config, container, ifName } = call;
  const { index, master } = await container.links.get(ifName);
  const { table } = config;
  if (table !== undefined) return addRules(call, sources, table);
  const all = await container.routes.list();
  const vrfTable = await vrfTableOf(container, master);
  const routes = all
    .filter(({ table }) => table === (vrfTable ?? MAIN_TABLE))
    .filter(({ type }) => vrfTable === undefined || type === 'unicast')
    .flatMap((route) => ownRoute(route, index));
  const used = new Set([...all, ...(await container.rules.list())].map((each) => each.table));
  const tables = freeTables(ROUTING_TABLES.sourceBased, sources.length, used);
  const options = { gateways: gatewaysOf(config), tables, isInVrf: vrfTable !== undefined };
  const plans = planSources(sources, routes, index, options);
  for (const { source, routes } of plans) {
    if (routes.some(({ dst }) => dst.bits === 0)) continue;
    call.warn(`no gateway is known for ${source.prefix}: it reaches its own network only`);
  }
  await addTables(call, plans);
  // A VRF's table is for its own interfaces only, and the VRF needs it.
  if (vrfTable === undefined) {
    await changeMain(call, planMain(sources, routes, index, config.addSourceHints));
  }
}

async function vrfTableOf({ links }: KernelSession, master = 0): Promise<number | undefined> {
  const { data } = (master === 0 ? undefined : await links.find(master)) ?? {};
  return data?.kind === 'vrf' ? data.table : undefined;
}

/** Rules that are there already may be somebody else's. */
async function addRules(call: Call, sources: readonly Source[], table: number): Promise<void> {
  const there = await call.container.rules.list({ table });
  const missing = sources.filter(
    ({ prefix }) => !there.some(({ from }) => from?.equals(Prefix.host(prefix.addr))),
  );
  await addTables(
    call,
    missing.map((source) => ({ source, rule: sourceRule(source, table), routes: [] })),
  );
}

async function addTables({ container, undo }: Call, plans: readonly SourcePlan[]): Promise<void> {
  const { rules, routes } = container;
  const changes: Change[] = [];
  for (const plan of plans) {
    undo.push(`delete the rule for ${plan.source.prefix.addr}`, () => rules.delete(plan.rule));
    changes.push(rules.plan.add(plan.rule));
    for (const route of plan.routes) {
      undo.push(`delete the route to ${route.dst}`, () => routes.delete(route));
      changes.push(routes.plan.append(route));
    }
  }
  await container.batch(changes);
}

async function changeMain({ container, undo }: Call, { remove, add }: MainPlan): Promise<void> {
  const { routes } = container;
  // Taken back in reverse: what is on the link before the gateways that are reached by it.
  for (const route of onLinkFirst(remove).toReversed()) {
    undo.push(`restore the route to ${route.dst}`, () => restore(container, route));
  }
  for (const route of add) undo.push(`delete the route to ${route.dst}`, () => routes.delete(route));
  await container.batch([
    ...remove.map((route) => routes.plan.delete(route)),
    ...add.map((route) => routes.plan.append(route)),
  ]);
}

/** Never by replacing: of IPv6, that would take the route of another link. */
export async function restore({ routes }: KernelSession, route: RouteSpec): Promise<void> {
  try {
    await routes.append(route);
  } catch (error) {
    if (!NetlinkError.is(error, 'EEXIST')) throw error;
  }
}
