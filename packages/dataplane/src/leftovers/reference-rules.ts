/**
 * Rules that the reference's nftables backends left, which carry their owner in the comment. Its tables and chains are
 * shared by its containers and stay, as they do when it cleans up itself.
 */
import type { AttachmentId } from '@heddle/cni';
import { ownerTag, tagKey } from '@heddle/cni/plugin';
import { delete_, type KernelSession, type ListedRule } from '@heddle/netlink';
import { commitPlanned } from '../owned-elements.ts';

/** Takes away the masquerade rules of an owner: those whose comment begins with its tag. */
export async function removeReferenceMasquerade(
  host: KernelSession,
  tables: ReadonlySet<string>,
  owner: AttachmentId,
): Promise<void> {
  if (!tables.has('inet cni_plugins_masquerade')) return;
  const chain = { family: 'inet', table: 'cni_plugins_masquerade', chain: 'masq_checks' } as const;
  const tag = tagKey(ownerTag(owner));
  await removeRules(host, chain, ({ comment }) => comment?.startsWith(tag) === true);
}

/** Takes away the port map rules of a container: those whose comment is its ID. The reference notes no more. */
export async function removeReferencePortMaps(
  host: KernelSession,
  tables: ReadonlySet<string>,
  { containerID }: AttachmentId,
): Promise<void> {
  for (const family of ['ip', 'ip6'] as const) {
    if (!tables.has(`${family} cni_hostport`)) continue;
    await removeRules(host, { family, table: 'cni_hostport' }, ({ comment }) => comment === containerID);
  }
}

async function removeRules(
  host: KernelSession,
  where: { readonly family: ListedRule['family']; readonly table: string; readonly chain?: string },
  isTheirs: (rule: ListedRule) => boolean,
): Promise<void> {
  await commitPlanned(host, async () => (await host.nft.rules(where)).filter(isTheirs).map(delete_));
}
