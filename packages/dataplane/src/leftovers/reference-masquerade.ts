/**
 * What the reference's nftables backend wrote to masquerade:
 *
 * ```
 * table inet cni_plugins_masquerade
 *   chain masq_checks    ip saddr 10.77.0.8 ip daddr != 10.77.0.0/24 masquerade     one for each address of a pod
 *   chain postrouting    ip daddr 224.0.0.0/4 return; ip6 daddr ff00::/8 return; goto masq_checks
 * ```
 *
 * The comments of the pods' rules have the same form as those of our elements.
 */
import type { AttachmentId } from '@heddle/cni';
import { ownerTag, parseOwnerComment, tagKey } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import { goto_, ip, ip6, type KernelSession, type ListedRule, masquerade, match, ret } from '@heddle/netlink';
import type { StaleFilter } from '../stale-filter.ts';
import { missingRules, type ReferenceRule, removeRules } from './reference-rules.ts';

/** Takes away the rules of an owner. */
export async function removeReferenceMasquerade(
  host: KernelSession,
  tables: ReadonlySet<string>,
  owner: AttachmentId,
): Promise<void> {
  if (tables.has(NAME)) await removeRules(host, PODS, (rule) => isOf(rule, owner));
}

/** What is missing of the rules of an owner, in words; `undefined` when there are none at all. */
export async function missingReferenceMasquerade(
  host: KernelSession,
  tables: ReadonlySet<string>,
  owner: AttachmentId,
  prefixes: readonly Prefix[],
): Promise<readonly string[] | undefined> {
  if (!tables.has(NAME)) return undefined;
  const own = (await host.nft.rules(PODS)).filter((rule) => isOf(rule, owner));
  if (own.length === 0) return undefined;
  const listed = [...own, ...(await host.nft.rules({ ...TABLE, chain: 'postrouting' }))];
  return missingRules(TABLE, listed, [...prefixes.map(podRule), ...SHARED]);
}

/** Takes away the rules of owners that are stale. */
export async function gcReferenceMasquerade(
  host: KernelSession,
  tables: ReadonlySet<string>,
  gc: StaleFilter,
): Promise<void> {
  if (!tables.has(NAME)) return;
  const stale = await gc.stale(
    () => host.nft.rules(PODS),
    ({ comment }) => parseOwnerComment(comment ?? '')?.tag,
  );
  const handles = new Set(stale.map(({ handle }) => handle));
  await removeRules(host, PODS, ({ handle }) => handles.has(handle));
}

const TABLE = { family: 'inet', table: 'cni_plugins_masquerade' } as const;
const NAME = `${TABLE.family} ${TABLE.table}`;
const PODS = { ...TABLE, chain: 'masq_checks' } as const;

const SHARED: readonly ReferenceRule[] = [
  {
    ...{ chain: 'postrouting', text: 'ip daddr 224.0.0.0/4 return' },
    expressions: [match(ip.daddr, 'eq', Prefix.parse('224.0.0.0/4')), ret()],
  },
  {
    ...{ chain: 'postrouting', text: 'ip6 daddr ff00::/8 return' },
    expressions: [match(ip6.daddr, 'eq', Prefix.parse('ff00::/8')), ret()],
  },
  { chain: 'postrouting', text: `goto ${PODS.chain}`, expressions: [goto_(PODS.chain)] },
];

function podRule(prefix: Prefix): ReferenceRule {
  const { family, addr } = prefix;
  const { saddr, daddr } = family === 4 ? ip : ip6;
  const network = prefix.masked();
  return {
    chain: PODS.chain,
    text: `${saddr.text} ${addr} ${daddr.text} != ${network} masquerade`,
    expressions: [match(saddr, 'eq', addr), match(daddr, 'ne', network), masquerade()],
  };
}

function isOf({ comment = '' }: ListedRule, owner: AttachmentId): boolean {
  return comment.startsWith(tagKey(ownerTag(owner)));
}
