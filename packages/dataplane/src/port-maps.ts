/**
 * Published ports: connections to a port of the node are led to a port of a container.
 *
 * Two backends: elements in our table, or the reference's iptables chains. Removal goes by the owner alone and takes
 * away what either wrote, ours or the reference's.
 */
import { type AttachmentId, CNI_CODE, CniError } from '@heddle/cni';
import { parseOwnerComment, tagKey } from '@heddle/cni/plugin';
import { delete_, type KernelSession } from '@heddle/netlink';
import { legacySnatChain, portMapChain, SHARED_CHAIN } from './iptables/chain-names.ts';
import {
  type IptablesPortMapOptions,
  missingPortMapRules,
  planPortMapRemoval,
  planPortMaps,
  portMapView,
} from './iptables/port-map-rules.ts';
import type { TableChange } from './iptables/table.ts';
import { changeTables, readTable } from './iptables/tables.ts';
import { hasStructure, NAT } from './layout.ts';
import { removeIptablesChain } from './leftovers/iptables-chains.ts';
import { missingReferencePortMaps, removeReferencePortMaps } from './leftovers/reference-port-maps.ts';
import { removeStaleChains } from './leftovers/stale-chains.ts';
import type { NatBackend } from './masquerade.ts';
import {
  commitPlanned,
  deletion,
  isOwnedBy,
  keyText,
  missingElements,
  type OwnedElement,
  readElements,
} from './owned-elements.ts';
import { portMapObjects } from './port-map-objects.ts';
import {
  conditionalRules,
  isRuleOf,
  keysOfSameContainer,
  PORT_MAP_SETS,
  planPortMapObjects,
} from './port-map-plan.ts';
import type { PortMaps } from './port-mapping.ts';
import { sameRule } from './same-rule.ts';
import type { StaleFilter } from './stale-filter.ts';
import { tablesOf } from './tables.ts';

/** Which backend to use, and what only iptables can be told. */
export interface PortMapOptions extends IptablesPortMapOptions {
  readonly backend: NatBackend;
}

/**
 * Publishes ports. What the owner had before is replaced, and so is what leads to the same addresses for somebody else:
 * they are this owner's now, also when it publishes nothing itself. A port that somebody else holds is taken over when
 * they are gone for certain; one that another interface of the same container holds stays there.
 *
 * @throws {CniError} code 141 that names the holder, when a port is taken; {NetlinkError} when the kernel refuses,
 *   {IptablesError} when iptables does, {ConfigError} for conditions that are not understood
 */
export async function addPortMaps(
  host: KernelSession,
  owner: AttachmentId,
  maps: PortMaps,
  options: PortMapOptions,
): Promise<void> {
  if (options.backend === 'nftables' || maps.mappings.length === 0) {
    const wanted = portMapObjects(owner, maps);
    await commitPlanned(host, () => planPortMapObjects(host, owner, maps, wanted));
    return;
  }
  const changes = maps.targets.map((target): TableChange => {
    const plan = planPortMaps(owner, target, maps, options);
    return { family: target.family, table: 'nat', ...portMapView(owner), plan };
  });
  await changeTables(host, changes, () => planPortMapObjects(host, owner, maps, { elements: [], rules: [] }));
}

/**
 * Unpublishes all ports of an owner, whatever wrote it: our elements and rules, the reference's iptables chains and
 * its nftables rules. Nothing there is fine.
 *
 * @returns the elements of ours that went, for those who have to forget connections
 */
export async function removePortMaps(
  host: KernelSession,
  owner: AttachmentId,
): Promise<readonly OwnedElement[]> {
  const tables = await tablesOf(host);
  let removed: readonly OwnedElement[] = [];
  if (tables.has(`${NAT.family} ${NAT.table}`)) {
    await commitPlanned(host, async () => {
      const own = (await readElements(host, PORT_MAP_SETS)).filter((each) => isOwnedBy(each, owner));
      if (own.length > 0) removed = own;
      const rules = (await conditionalRules(host)).filter((rule) => isRuleOf(rule, owner));
      return [...own.map(deletion), ...rules.map(delete_)];
    });
  }
  await removeReferencePortMaps(host, tables, owner);
  const plan = planPortMapRemoval(owner);
  for (const [chain, referrer] of [
    [portMapChain(owner), SHARED_CHAIN.dnat],
    [legacySnatChain(owner), SHARED_CHAIN.legacySnat],
  ] as const) {
    await removeIptablesChain(host, tables, { chain, referrer, plan });
  }
  return removed;
}

/**
 * Finds out whether everything is as {@link addPortMaps} left it, or the same backend of the reference.
 *
 * @throws {CniError} code 150 that says what is missing
 */
export async function checkPortMaps(
  host: KernelSession,
  owner: AttachmentId,
  maps: PortMaps,
  options: PortMapOptions,
): Promise<void> {
  const missing =
    options.backend === 'iptables'
      ? await missingInIptables(host, owner, maps, options)
      : await missingInNftables(host, owner, maps);
  if (missing.length === 0) return;
  throw new CniError(
    CNI_CODE.DRIFT,
    `published ports of ${maps.targets.join(', ')}: missing ${missing.join('; ')}`,
  );
}

/** Unpublishes the ports of owners that are stale, those in the reference's iptables chains included. */
export async function gcPortMaps(host: KernelSession, gc: StaleFilter): Promise<void> {
  const stale = await gc.stale(
    async () => [
      ...(await readElements(host, PORT_MAP_SETS)).map(({ owner }) => owner),
      ...(await conditionalRules(host)).map(({ comment }) => parseOwnerComment(comment ?? '')),
    ],
    (owner) => owner?.tag,
  );
  const tags = new Set(stale.flatMap((owner) => (owner === undefined ? [] : [tagKey(owner.tag)])));
  const isStale = (owner: (typeof stale)[number]) => owner !== undefined && tags.has(tagKey(owner.tag));
  await commitPlanned(host, async () => {
    if (tags.size === 0) return [];
    const elements = (await readElements(host, PORT_MAP_SETS)).filter(({ owner }) => isStale(owner));
    const rules = (await conditionalRules(host)).filter(({ comment }) =>
      isStale(parseOwnerComment(comment ?? '')),
    );
    return [...elements.map(deletion), ...rules.map(delete_)];
  });
  await removeStaleChains(host, gc, SHARED_CHAIN.dnat, (owner) => ({
    chain: portMapChain(owner),
    plan: planPortMapRemoval(owner),
  }));
}

async function missingInIptables(
  host: KernelSession,
  owner: AttachmentId,
  maps: PortMaps,
  options: PortMapOptions,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const target of maps.targets) {
    const table = await readTable(host, { family: target.family, table: 'nat', ...portMapView(owner) });
    const rules = missingPortMapRules(table, owner, target, maps, options);
    missing.push(...rules.map((text) => `IPv${target.family} nat rule ${text}`));
  }
  return missing;
}

async function missingInNftables(
  host: KernelSession,
  owner: AttachmentId,
  maps: PortMaps,
): Promise<readonly string[]> {
  const wanted = portMapObjects(owner, maps);
  const present = await readElements(host, PORT_MAP_SETS);
  const rules = await conditionalRules(host);
  if (!present.some((each) => isOwnedBy(each, owner)) && !rules.some((rule) => isRuleOf(rule, owner))) {
    const ofReference = await missingReferencePortMaps(host, await tablesOf(host), owner, maps);
    if (ofReference !== undefined) return ofReference;
  }
  const shared = keysOfSameContainer(present, owner);
  const elements = wanted.elements.filter((each) => !shared.has(keyText(each)));
  return [
    ...((await hasStructure(host)) ? [] : ['the rules of table inet heddle']),
    ...missingElements(present, elements),
    ...wanted.rules
      .filter((rule) => !rules.some((each) => sameRule(each, rule)))
      .map(() => `a rule of ${NAT.family} ${NAT.table} with conditions`),
  ];
}
