/**
 * Elements that belong to attachments: read with their owners, brought to what is wanted, taken away.
 *
 * A comment beside the key names the owner (see `ownerComment` of the SDK). One key has one owner: who comes second
 * gets EEXIST from the kernel, never a silent share.
 */
import type { AttachmentId } from '@heddle/cni';
import { COMMENT_MAX, type OwnerComment, ownerTag, parseOwnerComment } from '@heddle/cni/plugin';
import { Addr, Prefix } from '@heddle/netaddr';
import {
  create,
  delete_,
  element,
  type KernelSession,
  type KeyPart,
  type KeyValue,
  type ListedElement,
  NetlinkError,
  type NftChange,
  type NftElement,
  type NftSet,
} from '@heddle/netlink';
import { lockRules } from './rules-lock.ts';
import type { StaleFilter } from './stale-filter.ts';

/** An element in the kernel, and whose it is. */
export interface OwnedElement {
  readonly set: NftSet;
  readonly element: ListedElement;
  /** Absent when nobody of ours wrote it. */
  readonly owner?: OwnerComment;
}

/** All elements of these sets. Sets that do not exist have none. */
export async function readElements(
  { nft }: KernelSession,
  sets: readonly NftSet[],
): Promise<readonly OwnedElement[]> {
  const found: OwnedElement[] = [];
  for (const set of sets) {
    const elements = await nft.elementsOf(set);
    for (let at = 0; at < elements.length; at++) found.push(owned(set, elements[at] as ListedElement));
  }
  return found;
}

/**
 * True for what belongs to the attachment. Its container and interface say that: an interface is on one network, and
 * the network may have got another name since.
 */
export function isOwnedBy({ owner }: { readonly owner?: OwnerComment }, attachment: AttachmentId): boolean {
  return owner !== undefined && owner.tag.id === once(IDS, attachment, idOf);
}

function idOf(attachment: AttachmentId): string {
  return ownerTag(attachment).id;
}

/** True for what belongs to the attachment's container, by this or another interface. */
export function isOfContainer({ element, owner }: OwnedElement, { containerID }: AttachmentId): boolean {
  if (owner?.containerID === undefined || owner.containerID === '') return false;
  const isCut = Buffer.byteLength(element.comment ?? '') === COMMENT_MAX;
  return isCut ? containerID.startsWith(owner.containerID) : containerID === owner.containerID;
}

/**
 * The changes from the elements that are there to those that are wanted. `obsolete` says which of those there, that
 * are not wanted, have to go. Deletions come first, so that a key can change its value and its owner.
 */
export function elementChanges(
  present: readonly OwnedElement[],
  wanted: readonly NftElement[],
  obsolete: (element: OwnedElement) => boolean,
): readonly NftChange[] {
  const kept = new Set<string>();
  const wantedTexts = new Set(wanted.map(elementText));
  const deletions: NftChange[] = [];
  for (const each of present) {
    const text = elementText(each.element);
    if (wantedTexts.has(text)) kept.add(text);
    else if (obsolete(each)) deletions.push(deletion(each));
  }
  return [...deletions, ...wanted.filter((each) => !kept.has(elementText(each))).map(create)];
}

/** The change that deletes an element. */
export function deletion({ set, element: { key } }: OwnedElement): NftChange {
  // Only the key: data and comment would have to be repeated exactly.
  return delete_(element({ family: set.family, table: set.table, set, key }));
}

/** Deletes what is in the sets and chosen. What is gone meanwhile is fine. */
export async function deleteElements(
  host: KernelSession,
  sets: readonly NftSet[],
  isChosen: (element: OwnedElement) => boolean,
): Promise<void> {
  await commitPlanned(host, async () => (await readElements(host, sets)).filter(isChosen).map(deletion));
}

/** Where an element is, as one string. */
export function keyText(element: Pick<NftElement, 'set' | 'key'>): string {
  return once(
    KEY_TEXTS,
    element,
    ({ set, key }) => `${typeof set === 'string' ? set : set.name} ${valueText(key)}`,
  );
}

/** All that an element says, as one string: equal for equal elements. */
export function elementText(element: NftElement): string {
  return once(TEXTS, element, textOf);
}

function textOf(each: NftElement): string {
  const { data, comment } = each;
  if (typeof data === 'object' && 'kind' in data) return `${keyText(each)} ${data.verdict} ${comment}`;
  return `${keyText(each)}${data === undefined ? '' : ` : ${valueText(data)}`} ${comment}`;
}

/** Takes away the elements of owners that are stale. */
export async function deleteStaleElements(
  host: KernelSession,
  sets: readonly NftSet[],
  gc: StaleFilter,
): Promise<void> {
  const stale = await gc.stale(
    () => readElements(host, sets),
    ({ owner }) => owner?.tag,
  );
  const texts = new Set(stale.map(({ element }) => elementText(element)));
  await deleteElements(host, sets, ({ element }) => texts.has(elementText(element)));
}

/** Those of the wanted elements that are not present, each in words. */
export function missingElements(
  present: readonly OwnedElement[],
  wanted: readonly NftElement[],
): readonly string[] {
  const texts = new Set(present.map(({ element }) => elementText(element)));
  return wanted
    .map(elementText)
    .filter((text) => !texts.has(text))
    .map((text) => `element ${text}`);
}

/**
 * Commits changes that were planned from what had been read, while no other process of Heddle changes rules. When
 * somebody was faster all the same (the kernel says EEXIST, ENOENT or EBUSY) nothing was changed, and they are planned
 * again from what is there now.
 *
 * @param plan reads and decides; no changes means done. With `isBlind` it only creates what must not exist yet, has
 *   read nothing for that, and leaves it to the kernel to refuse
 */
export async function commitPlanned(
  host: KernelSession,
  plan: (isBlind: boolean) => Promise<readonly NftChange[]>,
  { beginsBlind = false }: { readonly beginsBlind?: boolean } = {},
): Promise<void> {
  const { nft } = host;
  for (let attempt = 1; ; attempt++) {
    const isBlind = beginsBlind && attempt === 1;
    using _lock = isBlind ? await nft.turn() : await lockRules(host);
    // What was known before the lock was there may be so no more.
    if (!isBlind) await nft.generation();
    const changes = await plan(isBlind);
    if (changes.length === 0) return;
    try {
      await nft.commit(changes);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !NetlinkError.is(error, 'EEXIST', 'ENOENT', 'EBUSY')) throw error;
    }
  }
}

/** Only those who do not wait for the lock can be in the way, with an object of the same name: never for long. */
const ATTEMPTS = 8;

function valueText(value: KeyValue): string {
  const parts: readonly KeyPart[] = Array.isArray(value) ? value : [value as KeyPart];
  return parts
    .map((part) => (part instanceof Prefix && part.isSingle ? part.addr : part))
    .map(String)
    .join(' . ');
}

/** The address that an element of a map leads to. */
export function targetOf({ data }: NftElement): Addr | undefined {
  const [addr] = Array.isArray(data) ? (data as readonly unknown[]) : [data];
  return addr instanceof Addr ? addr : undefined;
}

/** An element with its owner. The same element gives the same: of thousands that are remembered, one may be new. */
function owned(set: NftSet, element: ListedElement): OwnedElement {
  const known = OWNED.get(element);
  if (known !== undefined) return known;
  const owner = parseOwnerComment(element.comment ?? '');
  const made: OwnedElement = { set, element, ...(owner !== undefined && { owner }) };
  OWNED.set(element, made);
  return made;
}

const OWNED = new WeakMap<ListedElement, OwnedElement>();
const IDS = new WeakMap<object, string>();
const KEY_TEXTS = new WeakMap<object, string>();
const TEXTS = new WeakMap<object, string>();

/** What a function of an object gave for that object before, or gives now. */
function once<T extends object>(
  known: WeakMap<object, string>,
  object: T,
  make: (object: T) => string,
): string {
  const before = known.get(object);
  if (before !== undefined) return before;
  const made = make(object);
  known.set(object, made);
  return made;
}
