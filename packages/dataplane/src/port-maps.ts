/**
 * Published ports: connections to a port of the node are led to a port of a container.
 *
 * Two backends: elements in our table, or the reference's iptables chains. Removal goes by the owner alone and takes
 * away what either wrote, ours or the reference's.
 */
import { type AttachmentId, CNI_CODE, CniError } from '@heddle/cni';
import { parseOwnerComment, tagKey } from '@heddle/cni/plugin';
import type { Addr } from '@heddle/netaddr';
import {
  add,
  delete_,
  type KernelSession,
  type ListedRule,
  type NftChange,
  type NftRule,
} from '@heddle/netlink';
import { isHolderGone, portTaken } from './holder.ts';
import { legacySnatChain, portMapChain, SHARED_CHAIN } from './iptables/chain-names.ts';
import { changeNatTable, readNatTable } from './iptables/nat-table.ts';
import {
  type IptablesPortMapOptions,
  missingPortMapRules,
  planPortMapRemoval,
  planPortMaps,
} from './iptables/port-map-rules.ts';
import { programsIn } from './iptables/programs.ts';
import {
  ADDRESS_PORTS,
  CONDITIONAL_PORTS,
  hasStructure,
  NAT,
  PORT_RETURN,
  PORTS,
  structure,
} from './layout.ts';
import { removeIptablesChain } from './leftovers/iptables-chains.ts';
import { removeReferencePortMaps } from './leftovers/reference-rules.ts';
import { removeStaleChains } from './leftovers/stale-chains.ts';
import type { NatBackend } from './masquerade.ts';
import {
  commitPlanned,
  deletion,
  elementChanges,
  elementText,
  isOwnedBy,
  keyText,
  type OwnedElement,
  readElements,
  targetOf,
} from './owned-elements.ts';
import { type PortMapObjects, portMapObjects } from './port-map-objects.ts';
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
 * they are gone for certain.
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
  const isOurs = options.backend === 'nftables';
  const wanted = isOurs ? portMapObjects(owner, maps) : { elements: [], rules: [] };
  await commitPlanned(host, () => planObjects(host, owner, maps, wanted));
  if (isOurs || maps.mappings.length === 0) return;
  for (const target of maps.targets) {
    await changeNatTable(programsIn(host), target.family, planPortMaps(owner, target, maps, options));
  }
}

async function planObjects(
  host: KernelSession,
  owner: AttachmentId,
  maps: PortMaps,
  wanted: PortMapObjects,
): Promise<readonly NftChange[]> {
  const isBuilt = await hasStructure(host);
  const present = await readElements(host, SETS);
  const addresses = new Set(maps.targets.map(({ addr }) => String(addr)));
  const wantedKeys = new Set(wanted.elements.map(keyText));
  const obsolete = new Set<OwnedElement>();
  for (const each of present) {
    const isReplaced = isOwnedBy(each, owner) || addresses.has(String(podOf(each)));
    const isTaken = wantedKeys.has(keyText(each.element));
    if (isTaken && !isReplaced && !(await isHolderGone(host, each))) throw portTaken(each);
    if (isTaken || isReplaced) obsolete.add(each);
  }
  const own = (await conditionalRules(host)).filter((rule) => isRuleOf(rule, owner));
  const changes = [
    ...elementChanges(present, wanted.elements, (each) => obsolete.has(each)),
    ...ruleChanges(own, wanted.rules),
  ];
  return isBuilt || (changes.length === 0 && wanted.elements.length + wanted.rules.length === 0)
    ? changes
    : [...structure(), ...changes];
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
      const own = (await readElements(host, SETS)).filter((each) => isOwnedBy(each, owner));
      if (own.length > 0) removed = own;
      const rules = (await conditionalRules(host)).filter((rule) => isRuleOf(rule, owner));
      return [...own.map(deletion), ...rules.map(delete_)];
    });
  }
  await removeReferencePortMaps(host, tables, owner);
  const plan = planPortMapRemoval(owner);
  await removeIptablesChain(host, tables, { chain: portMapChain(owner), referrer: SHARED_CHAIN.dnat, plan });
  await removeIptablesChain(host, tables, {
    chain: legacySnatChain(owner),
    referrer: SHARED_CHAIN.legacySnat,
    plan,
  });
  return removed;
}

/**
 * Finds out whether everything is as {@link addPortMaps} left it.
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
      ...(await readElements(host, SETS)).map(({ owner }) => owner),
      ...(await conditionalRules(host)).map(({ comment }) => parseOwnerComment(comment ?? '')),
    ],
    (owner) => owner?.tag,
  );
  const tags = new Set(stale.flatMap((owner) => (owner === undefined ? [] : [tagKey(owner.tag)])));
  await commitPlanned(host, async () => {
    const elements = (await readElements(host, SETS)).filter(
      ({ owner }) => owner && tags.has(tagKey(owner.tag)),
    );
    const rules = (await conditionalRules(host)).filter(({ comment }) => {
      const owner = parseOwnerComment(comment ?? '');
      return owner !== undefined && tags.has(tagKey(owner.tag));
    });
    return [...elements.map(deletion), ...rules.map(delete_)];
  });
  await removeStaleChains(host, gc, SHARED_CHAIN.dnat, (owner) => ({
    chain: portMapChain(owner),
    plan: planPortMapRemoval(owner),
  }));
}

const SETS = [PORTS[4], PORTS[6], ADDRESS_PORTS[4], ADDRESS_PORTS[6], PORT_RETURN[4], PORT_RETURN[6]];

async function missingInIptables(
  host: KernelSession,
  owner: AttachmentId,
  maps: PortMaps,
  options: PortMapOptions,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const target of maps.targets) {
    const table = await readNatTable(programsIn(host), target.family);
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
  const elements = new Set((await readElements(host, SETS)).map((each) => elementText(each.element)));
  const rules = wanted.rules.length === 0 ? [] : await conditionalRules(host);
  return [
    ...((await hasStructure(host)) ? [] : ['the rules of table inet heddle']),
    ...wanted.elements
      .filter((each) => !elements.has(elementText(each)))
      .map((each) => `element ${elementText(each)}`),
    ...wanted.rules
      .filter((rule) => !rules.some((each) => sameRule(each, rule)))
      .map(() => 'a rule with conditions'),
  ];
}

async function conditionalRules({ nft }: KernelSession): Promise<readonly ListedRule[]> {
  return nft.rules({ ...NAT, chain: CONDITIONAL_PORTS.name });
}

function isRuleOf({ comment }: NftRule, owner: AttachmentId): boolean {
  const parsed = parseOwnerComment(comment ?? '');
  return parsed !== undefined && isOwnedBy({ owner: parsed }, owner);
}

function ruleChanges(present: readonly ListedRule[], wanted: readonly NftRule[]): readonly NftChange[] {
  const isKept = (rule: ListedRule) => wanted.some((each) => sameRule(rule, each));
  return [
    ...present.filter((rule) => !isKept(rule)).map(delete_),
    ...wanted.filter((each) => !present.some((rule) => sameRule(rule, each))).map(add),
  ];
}

/** The pod that an element is about: where a published port leads to, or who is answered by way of this node. */
function podOf({ element }: OwnedElement): Addr | undefined {
  const target = targetOf(element);
  if (target !== undefined) return target;
  const [, pod] = Array.isArray(element.key) ? (element.key as readonly unknown[]) : [];
  return pod as Addr | undefined;
}
