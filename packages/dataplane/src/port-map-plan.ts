/** From the published ports that are in our table to those that should be. */
import type { AttachmentId } from '@heddle/cni';
import { parseOwnerComment } from '@heddle/cni/plugin';
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
import {
  ADDRESS_PORTS,
  CONDITIONAL_PORTS,
  hasStructure,
  NAT,
  PORT_RETURN,
  PORTS,
  structure,
} from './layout.ts';
import {
  elementChanges,
  isOfContainer,
  isOwnedBy,
  keyText,
  type OwnedElement,
  readElements,
  targetOf,
} from './owned-elements.ts';
import { perObject } from './per-object.ts';
import type { PortMapObjects } from './port-map-objects.ts';
import type { PortMaps } from './port-mapping.ts';
import { sameRule } from './same-rule.ts';

/** Where published ports are. */
export const PORT_MAP_SETS = [PORTS, ADDRESS_PORTS, PORT_RETURN].flatMap((each) => [each[4], each[6]]);

/**
 * The changes that make `wanted` of an owner so, and take away what leads to its addresses for others.
 *
 * @throws {CniError} when somebody else holds a port, and may be alive
 */
export async function planPortMapObjects(
  host: KernelSession,
  owner: AttachmentId,
  { targets }: PortMaps,
  wanted: PortMapObjects,
): Promise<readonly NftChange[]> {
  const isBuilt = await hasStructure(host);
  if (!isBuilt && wanted.elements.length + wanted.rules.length === 0) return [];
  const present = await readElements(host, PORT_MAP_SETS);
  const addresses = new Set(targets.map(({ addr }) => String(addr)));
  const wantedKeys = new Set(wanted.elements.map(keyText));
  const shared = keysOfSameContainer(present, owner);
  const obsolete = new Set<OwnedElement>();
  for (const each of present) {
    const key = keyText(each.element);
    const isReplaced = isOwnedBy(each, owner) || addresses.has(podTextOf(each));
    const isTaken = wantedKeys.has(key) && !shared.has(key);
    if (isTaken && !isReplaced && !(await isHolderGone(host, each))) throw portTaken(each);
    if (isTaken || isReplaced) obsolete.add(each);
  }
  const own = (await conditionalRules(host)).filter((rule) => isRuleOf(rule, owner));
  const elements = wanted.elements.filter((each) => !shared.has(keyText(each)));
  const changes = [
    ...elementChanges(present, elements, (each) => obsolete.has(each)),
    ...ruleChanges(own, wanted.rules),
  ];
  return isBuilt ? changes : [...structure(), ...changes];
}

/**
 * What another interface of the owner's container holds. A runtime publishes a container's ports on every network that
 * it is attached to, and a port leads to one place: the one that was there first.
 */
export function keysOfSameContainer(
  present: readonly OwnedElement[],
  owner: AttachmentId,
): ReadonlySet<string> {
  const others = present.filter((each) => isOfContainer(each, owner) && !isOwnedBy(each, owner));
  return new Set(others.map(({ element }) => keyText(element)));
}

/** The rules of mappings with conditions, of all owners. */
export function conditionalRules({ nft }: KernelSession): Promise<readonly ListedRule[]> {
  return nft.rules({ ...NAT, chain: CONDITIONAL_PORTS.name });
}

/** True for a rule that belongs to `owner`. */
export function isRuleOf({ comment }: NftRule, owner: AttachmentId): boolean {
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

/** The pod that an element is about: where a published port leads, or who is answered by way of this node. */
/** Elements are remembered from call to call, and each call looks at all of them. */
const podTextOf = perObject((each: OwnedElement) => String(podOf(each)));

function podOf({ element }: OwnedElement): Addr | undefined {
  const target = targetOf(element);
  if (target !== undefined) return target;
  const [, pod]: readonly unknown[] = Array.isArray(element.key) ? element.key : [];
  return pod as Addr | undefined;
}
