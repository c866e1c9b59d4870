/**
 * Masquerading: packets of a pod that leave its own network get the address of the node.
 *
 * Multicast and the pod's own network are left alone, as in the reference. Two backends: elements in our table, or
 * the reference's iptables chains. Removal takes away both, and what the reference's nftables backend left.
 */
import { type AttachmentId, CNI_CODE, CniError } from '@heddle/cni';
import { ownerComment } from '@heddle/cni/plugin';
import type { Prefix } from '@heddle/netaddr';
import { delete_, element, type KernelSession, type NftChange, type NftElement } from '@heddle/netlink';
import { masqueradeChain } from './iptables/chain-names.ts';
import {
  missingMasqueradeRules,
  planMasquerade,
  planMasqueradeRemoval,
} from './iptables/masquerade-rules.ts';
import type { TableChange } from './iptables/table.ts';
import { changeTables, readTable } from './iptables/tables.ts';
import { type Family, HOME, hasStructure, MASQUERADE, NAT, structure } from './layout.ts';
import { removeIptablesChain } from './leftovers/iptables-chains.ts';
import {
  gcReferenceMasquerade,
  missingReferenceMasquerade,
  removeReferenceMasquerade,
} from './leftovers/reference-masquerade.ts';
import { removeStaleChains } from './leftovers/stale-chains.ts';
import {
  commitPlanned,
  deleteStaleElements,
  deletion,
  elementChanges,
  isOwnedBy,
  missingElements,
  readElements,
} from './owned-elements.ts';
import type { StaleFilter } from './stale-filter.ts';
import { tablesOf } from './tables.ts';

/** How address translation is written down. */
export type NatBackend = 'nftables' | 'iptables';

/** Which backend to use. */
export interface MasqueradeOptions {
  readonly backend: NatBackend;
}

/**
 * Masquerades what leaves `prefixes`' networks from their addresses. An address that another owner had is this owner's
 * now.
 *
 * @param prefixes the pod's addresses with the prefix length of their networks
 * @throws {NetlinkError} when the kernel refuses, {IptablesError} when iptables does
 * @example await addMasquerade(host, attachment, [Prefix.parse('10.77.0.8/24')], { backend: 'nftables' })
 */
export async function addMasquerade(
  host: KernelSession,
  owner: AttachmentId,
  prefixes: readonly Prefix[],
  { backend }: MasqueradeOptions,
): Promise<void> {
  if (backend === 'iptables') {
    const chains = ['POSTROUTING', masqueradeChain(owner)];
    const changes = families(prefixes).map(([family, some]): TableChange => {
      return { family, table: 'nat', chains, plan: planMasquerade(owner, some) };
    });
    await changeTables(host, changes);
    return;
  }
  const wanted = elementsFor(owner, prefixes);
  await commitPlanned(
    host,
    async (isBlind) => {
      const isBuilt = await hasStructure(host);
      // An address is rarely known already; the kernel says so.
      const present = isBlind ? [] : await readElements(host, SETS);
      const changes = elementChanges(
        present,
        wanted,
        (each) =>
          isOwnedBy(each, owner) || prefixes.some(({ addr }) => sourceOf(each.element) === String(addr)),
      );
      return [...(isBuilt ? [] : structure()), ...changes];
    },
    { beginsBlind: true },
  );
}

/**
 * Takes away all masquerading of an owner, whatever wrote it and wherever its addresses were: our elements, the
 * reference's iptables chain and its nftables rules. Nothing there is fine.
 *
 * @param prefixes as they were added; where they are known, nothing has to be searched
 */
export async function removeMasquerade(
  host: KernelSession,
  owner: AttachmentId,
  prefixes: readonly Prefix[] = [],
): Promise<void> {
  const tables = await tablesOf(host);
  if (tables.has(`${NAT.family} ${NAT.table}`)) {
    let known = prefixes;
    await commitPlanned(host, async () => {
      const changes = await deletionsAt(host, owner, known);
      // Should it not come to that, the next attempt looks at everything.
      known = [];
      return changes ?? (await deletions(host, owner));
    });
  }
  await removeReferenceMasquerade(host, tables, owner);
  await removeIptablesChain(host, tables, {
    ...{ chain: masqueradeChain(owner), referrer: 'POSTROUTING' },
    plan: planMasqueradeRemoval(owner),
  });
}

/** The deletions for addresses without a search; `undefined` unless all of them are the owner's. */
async function deletionsAt(
  { nft }: KernelSession,
  owner: AttachmentId,
  prefixes: readonly Prefix[],
): Promise<readonly NftChange[] | undefined> {
  if (prefixes.length === 0) return undefined;
  const wanted = elementsFor(owner, prefixes);
  for (const each of wanted) {
    // To find an element of a set with intervals, the kernel would have to list it.
    if (isInterval(each)) continue;
    const found = await nft.findElement(each);
    if (found?.comment !== each.comment) return undefined;
  }
  return wanted.map(({ family, table, set, key }) => delete_(element({ family, table, set, key })));
}

async function deletions(host: KernelSession, owner: AttachmentId): Promise<readonly NftChange[]> {
  return (await readElements(host, SETS)).filter((each) => isOwnedBy(each, owner)).map(deletion);
}

/**
 * Finds out whether everything is as {@link addMasquerade} left it, or the same backend of the reference.
 *
 * @throws {CniError} code 150 that says what is missing
 */
export async function checkMasquerade(
  host: KernelSession,
  owner: AttachmentId,
  prefixes: readonly Prefix[],
  { backend }: MasqueradeOptions,
): Promise<void> {
  const missing = await (backend === 'iptables' ? missingInIptables : missingInNftables)(
    host,
    owner,
    prefixes,
  );
  if (missing.length === 0) return;
  throw new CniError(CNI_CODE.DRIFT, `masquerading of ${prefixes.join(', ')}: missing ${missing.join('; ')}`);
}

/** Takes away the masquerading of owners that are stale, that of the reference's backends included. */
export async function gcMasquerade(host: KernelSession, gc: StaleFilter): Promise<void> {
  await deleteStaleElements(host, SETS, gc);
  await gcReferenceMasquerade(host, await tablesOf(host), gc);
  await removeStaleChains(host, gc, 'POSTROUTING', (owner) => ({
    chain: masqueradeChain(owner),
    plan: planMasqueradeRemoval(owner),
  }));
}

async function missingInIptables(
  host: KernelSession,
  owner: AttachmentId,
  prefixes: readonly Prefix[],
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [family, some] of families(prefixes)) {
    const chains = ['POSTROUTING', masqueradeChain(owner)];
    const table = await readTable(host, { family, table: 'nat', chains });
    const rules = missingMasqueradeRules(table, owner, some);
    missing.push(...rules.map((text) => `IPv${family} nat rule ${text}`));
  }
  return missing;
}

async function missingInNftables(
  host: KernelSession,
  owner: AttachmentId,
  prefixes: readonly Prefix[],
): Promise<readonly string[]> {
  const present = await readElements(host, SETS);
  if (!present.some((each) => isOwnedBy(each, owner))) {
    const ofReference = await missingReferenceMasquerade(host, await tablesOf(host), owner, prefixes);
    if (ofReference !== undefined) return ofReference;
  }
  return [
    ...((await hasStructure(host)) ? [] : ['the rules of table inet heddle']),
    ...missingElements(present, elementsFor(owner, prefixes)),
  ];
}

const SETS = [MASQUERADE[4], MASQUERADE[6], HOME[4], HOME[6]];

function elementsFor(owner: AttachmentId, prefixes: readonly Prefix[]): readonly NftElement[] {
  const comment = ownerComment(owner);
  return prefixes.flatMap((prefix) => {
    const { family, addr } = prefix;
    const [who, home] = [MASQUERADE[family], HOME[family]];
    return [
      element({ family: who.family, table: who.table, set: who, key: addr, comment }),
      element({ family: home.family, table: home.table, set: home, key: [addr, prefix.masked()], comment }),
    ];
  });
}

function families(prefixes: readonly Prefix[]): readonly (readonly [Family, readonly Prefix[]])[] {
  return ([4, 6] as const)
    .map((family) => [family, prefixes.filter((prefix) => prefix.family === family)] as const)
    .filter(([, some]) => some.length > 0);
}

function isInterval({ set }: NftElement): boolean {
  return typeof set !== 'string' && set.intervals === true;
}

/** The pod that an element is about. */
function sourceOf({ key }: NftElement): string {
  return String(Array.isArray(key) ? key[0] : key);
}
