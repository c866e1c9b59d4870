/**
 * The check of source addresses: a pod that sends into its bridge with another hardware address than its own is
 * dropped there.
 *
 * ```
 * table bridge heddle
 *   set checked_links    link                 links whose senders are checked
 *   set link_addresses   link . MAC           what may come from them
 *   chain prerouting     filter prerouting -300   iifname @checked_links iifname . ether saddr != @link_addresses drop
 * ```
 *
 * The reference makes two chains for each pod, walked one after the other; here it is one look-up for all.
 */
import { type AttachmentId, CNI_CODE, CniError } from '@heddle/cni';
import { ownerComment } from '@heddle/cni/plugin';
import type { Mac } from '@heddle/netaddr';
import {
  add,
  chain,
  concat,
  drop,
  element,
  ether,
  flush,
  type KernelSession,
  match,
  meta,
  type NftChange,
  type NftElement,
  rule,
  set,
  setRef,
  table,
} from '@heddle/netlink';
import { missingReferenceSpoofCheck, removeReferenceSpoofCheck } from './leftovers/reference-spoof-check.ts';
import { BASE_CHAINS, TABLES } from './numbers.ts';
import {
  commitPlanned,
  deleteElements,
  deleteStaleElements,
  elementChanges,
  isOwnedBy,
  missingElements,
  readElements,
} from './owned-elements.ts';
import type { StaleFilter } from './stale-filter.ts';
import { tablesOf } from './tables.ts';

/** Where a pod sends from, and as whom. */
export interface SpoofCheck {
  /** The name of the bridge's port. */
  readonly hostLink: string;
  /** The only address that may come from it. */
  readonly mac: Mac;
}

/** Drops what comes from a link with another source address. What was checked on the link before is not any more. */
export async function addSpoofCheck(
  host: KernelSession,
  owner: AttachmentId,
  check: SpoofCheck,
): Promise<void> {
  const wanted = elementsFor(owner, check);
  await commitPlanned(
    host,
    async (isBlind) => {
      const isBuilt = await hasStructure(host);
      // A link is rarely known already; the kernel says so.
      const present = isBlind ? [] : await readElements(host, SETS);
      const changes = elementChanges(
        present,
        wanted,
        (each) => isOwnedBy(each, owner) || linkOf(each.element) === check.hostLink,
      );
      return [...(isBuilt ? [] : structure()), ...changes];
    },
    { beginsBlind: true },
  );
}

/** Takes the check of an owner away, the reference's as well. Nothing there is fine. */
export async function removeSpoofCheck(host: KernelSession, owner: AttachmentId): Promise<void> {
  const tables = await tablesOf(host);
  if (tables.has(`${BRIDGE.family} ${BRIDGE.table}`)) {
    await deleteElements(host, SETS, (each) => isOwnedBy(each, owner));
  }
  await removeReferenceSpoofCheck(host, tables, owner);
}

/**
 * Finds out whether the check is as {@link addSpoofCheck} left it, or the reference.
 *
 * @throws {CniError} code 150 that says what is missing
 */
export async function checkSpoofCheck(
  host: KernelSession,
  owner: AttachmentId,
  check: SpoofCheck,
): Promise<void> {
  const missing = await missingOf(host, owner, check);
  if (missing.length === 0) return;
  throw new CniError(
    CNI_CODE.DRIFT,
    `check of source addresses on ${check.hostLink}: missing ${missing.join('; ')}`,
  );
}

/** Takes away the checks of owners that are stale. */
export async function gcSpoofCheck(host: KernelSession, gc: StaleFilter): Promise<void> {
  await deleteStaleElements(host, SETS, gc);
}

async function missingOf(
  host: KernelSession,
  owner: AttachmentId,
  check: SpoofCheck,
): Promise<readonly string[]> {
  const present = await readElements(host, SETS);
  if (!present.some((each) => isOwnedBy(each, owner))) {
    const ofReference = await missingReferenceSpoofCheck(host, await tablesOf(host), owner, check);
    if (ofReference !== undefined) return ofReference;
  }
  return [
    ...((await hasStructure(host)) ? [] : ['the rule of table bridge heddle']),
    ...missingElements(present, elementsFor(owner, check)),
  ];
}

const BRIDGE = TABLES.bridge;
const LINKS = set({ ...BRIDGE, name: 'checked_links', key: 'ifname' });
const ADDRESSES = set({ ...BRIDGE, name: 'link_addresses', key: ['ifname', 'ether_addr'] });
const SETS = [LINKS, ADDRESSES];
const PREROUTING = chain({ ...BRIDGE, name: 'prerouting', base: BASE_CHAINS.bridgePrerouting });
/** The version of the structure, as the comment of its rule. */
const LAYOUT = 'layout 1';

function structure(): readonly NftChange[] {
  const spoofed = match(concat(meta.iifname, ether.saddr), 'notin', setRef(ADDRESSES.name));
  return [
    add(table({ family: BRIDGE.family, name: BRIDGE.table, comment: 'Heddle: source addresses of pods' })),
    ...[LINKS, ADDRESSES, PREROUTING].map(add),
    flush(PREROUTING),
    add(
      rule({
        ...{ ...BRIDGE, chain: PREROUTING.name, comment: LAYOUT },
        expressions: [match(meta.iifname, 'in', setRef(LINKS.name)), spoofed, drop()],
      }),
    ),
  ];
}

async function hasStructure({ nft }: KernelSession): Promise<boolean> {
  const rules = await nft.rules({ ...BRIDGE, chain: PREROUTING.name });
  return rules.some(({ comment }) => comment === LAYOUT);
}

function elementsFor(owner: AttachmentId, { hostLink, mac }: SpoofCheck): readonly NftElement[] {
  const comment = ownerComment(owner);
  return [
    element({ ...BRIDGE, set: LINKS, key: hostLink, comment }),
    element({ ...BRIDGE, set: ADDRESSES, key: [hostLink, mac], comment }),
  ];
}

function linkOf({ key }: NftElement): string {
  return String(Array.isArray(key) ? key[0] : key);
}
