/**
 * A pod of the cluster is heard under its own addresses only: what comes in by the host's end of one is dropped where
 * the way back to its source is another one.
 *
 * ```
 * table inet heddle
 *   chain cluster_sources    filter prerouting -300
 * ```
 *
 * The routes to pods say whose an address is, so that there is nothing to keep for each pod. Neighbours that look for
 * duplicates of their address have none yet (RFC 4862, 5.4.2).
 */
import { Addr } from '@heddle/netaddr';
import {
  add,
  chain,
  delete_,
  drop,
  fib,
  flush,
  ip6,
  type KernelSession,
  match,
  meta,
  type NftRule,
  ret,
  rule,
  type Statement,
} from '@heddle/netlink';
import { NAT, TABLE } from '../layout.ts';
import { BASE_CHAINS, LINK_GROUPS } from '../numbers.ts';
import { commitPlanned } from '../owned-elements.ts';
import { hasOnly } from './has-only.ts';

/**
 * Makes the chain what it should be, in one transaction; nothing is sent when it is so already.
 *
 * @returns how many changes it took
 */
export async function syncClusterSources(host: KernelSession): Promise<number> {
  const isThere = () => hasOnly(host.nft, CHAIN, rules());
  if (await isThere()) return 0;
  let changes = 0;
  await commitPlanned(host, async () => {
    if (await isThere()) return [];
    changes = 1;
    return [add(TABLE), add(CHAIN), flush(CHAIN), ...rules().map(add)];
  });
  return changes;
}

/** Takes the chain away; the table stays. @returns how many changes it took */
export async function removeClusterSources(host: KernelSession): Promise<number> {
  const removals = async () =>
    (await host.nft.findChain(CHAIN)) === undefined ? [] : [flush(CHAIN), delete_(CHAIN)];
  if ((await removals()).length === 0) return 0;
  await commitPlanned(host, removals);
  return 1;
}

const CHAIN = chain({ ...NAT, name: 'cluster_sources', base: BASE_CHAINS.clusterSources });

function rules(): readonly NftRule[] {
  const noLink = 0;
  const bodies: readonly (readonly Statement[])[] = [
    [match(meta.iifgroup, 'ne', LINK_GROUPS.pods), ret()],
    [match(ip6.saddr, 'eq', Addr.parse('::')), ret()],
    [match(fib({ by: ['saddr', 'iif'], result: 'oif' }), 'eq', noLink), drop()],
  ];
  return bodies.map((expressions) => rule({ ...NAT, chain: CHAIN.name, expressions }));
}
