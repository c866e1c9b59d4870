/**
 * What pods send out of the cluster, and does not stay among pods, gets the node's address.
 *
 * ```
 * table inet heddle
 *   set cluster4              all ranges of pods
 *   set cluster_outgoing4     those whose traffic to elsewhere is masqueraded
 *   (cluster6 and so on: the same for IPv6)
 *
 *   chain cluster_postrouting nat postrouting 110
 * ```
 *
 * One set of ranges, whatever the number of nodes and pods. Multicast is left alone.
 */
import { Prefix } from '@heddle/netaddr';
import {
  add,
  chain,
  delete_,
  element,
  flush,
  ip,
  ip6,
  type KernelSession,
  masquerade,
  match,
  type NftChange,
  type NftRule,
  type NftSet,
  ret,
  rule,
  set,
  setRef,
} from '@heddle/netlink';
import { NAT, TABLE } from '../layout.ts';
import { BASE_CHAINS } from '../numbers.ts';
import { commitPlanned } from '../owned-elements.ts';
import { hasOnly } from './has-only.ts';

/** The ranges of a cluster's pods. */
export interface ClusterRanges {
  /** All of them: within them nothing is changed. */
  readonly pools: readonly Prefix[];
  /** Those whose traffic to elsewhere takes the node's address. */
  readonly outgoing: readonly Prefix[];
}

/**
 * Brings the kernel to these ranges, in one transaction; nothing is sent when it is so already.
 *
 * @returns how many changes it took
 */
export async function syncClusterNat(host: KernelSession, ranges: ClusterRanges): Promise<number> {
  // Nobody has to wait for whoever only looks.
  if (await isAsWanted(host, ranges)) return 0;
  let changes = 0;
  await commitPlanned(host, async () => {
    if (await isAsWanted(host, ranges)) return [];
    changes = 1;
    return build(ranges);
  });
  return changes;
}

/** Takes all of it away; the table stays. @returns how many changes it took */
export async function removeClusterNat(host: KernelSession): Promise<number> {
  if ((await removals(host)).length === 0) return 0;
  await commitPlanned(host, () => removals(host));
  return 1;
}

const FAMILIES = [4, 6] as const;
const CHAIN = chain({ ...NAT, name: 'cluster_postrouting', base: BASE_CHAINS.clusterPostrouting });

function rangeSet(name: string, family: 4 | 6): NftSet {
  const key = family === 4 ? 'ipv4_addr' : 'ipv6_addr';
  return set({ ...NAT, name: `${name}${family}`, key, intervals: true });
}

const POOLS = { 4: rangeSet('cluster', 4), 6: rangeSet('cluster', 6) } as const;
const OUTGOING = { 4: rangeSet('cluster_outgoing', 4), 6: rangeSet('cluster_outgoing', 6) } as const;
const ALL_SETS = [POOLS[4], POOLS[6], OUTGOING[4], OUTGOING[6]];

const FIELDS = {
  4: { saddr: ip.saddr, daddr: ip.daddr, multicast: Prefix.parse('224.0.0.0/4') },
  6: { saddr: ip6.saddr, daddr: ip6.daddr, multicast: Prefix.parse('ff00::/8') },
} as const;

function rules(): readonly NftRule[] {
  return FAMILIES.flatMap((family) => {
    const { saddr, daddr, multicast } = FIELDS[family];
    const bodies = [
      [match(daddr, 'eq', multicast), ret()],
      [match(daddr, 'in', setRef(POOLS[family].name)), ret()],
      [match(saddr, 'in', setRef(OUTGOING[family].name)), masquerade()],
    ];
    return bodies.map((expressions) => rule({ ...NAT, chain: CHAIN.name, expressions }));
  });
}

function build({ pools, outgoing }: ClusterRanges): readonly NftChange[] {
  const elements = (sets: typeof POOLS, ranges: readonly Prefix[]) =>
    ranges.map((key) => add(element({ ...NAT, set: sets[key.family], key })));
  return [
    add(TABLE),
    ...ALL_SETS.map(add),
    add(CHAIN),
    flush(CHAIN),
    ...ALL_SETS.map(flush),
    ...rules().map(add),
    ...elements(POOLS, pools),
    ...elements(OUTGOING, outgoing),
  ];
}

async function removals({ nft }: KernelSession): Promise<readonly NftChange[]> {
  const isThere = (name: string, all: readonly { readonly name: string }[]) =>
    all.some((each) => each.name === name);
  const [chains, sets] = [await nft.chains(NAT), await nft.sets(NAT)];
  return [
    ...(isThere(CHAIN.name, chains) ? [flush(CHAIN), delete_(CHAIN)] : []),
    ...ALL_SETS.filter(({ name }) => isThere(name, sets)).map(delete_),
  ];
}

async function isAsWanted({ nft }: KernelSession, { pools, outgoing }: ClusterRanges): Promise<boolean> {
  if (!(await hasOnly(nft, CHAIN, rules()))) return false;
  for (const family of FAMILIES) {
    if (!(await hasExactly(nft, POOLS[family], pools))) return false;
    if (!(await hasExactly(nft, OUTGOING[family], outgoing))) return false;
  }
  return true;
}

async function hasExactly(
  nft: KernelSession['nft'],
  of: NftSet,
  ranges: readonly Prefix[],
): Promise<boolean> {
  const family = of.name.endsWith('4') ? 4 : 6;
  // A range of one address is listed as that address.
  const text = (key: unknown) => String(key instanceof Prefix && key.isSingle ? key.addr : key);
  const wanted = ranges.filter((range) => range.family === family).map(text);
  const found = (await nft.elementsOf(of)).map(({ key }) => text(key));
  return String(found.sort()) === String(wanted.sort());
}
