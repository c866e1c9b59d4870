/** What the reference's spoof check left in `bridge nat`: two chains per interface, and the rules that lead there. */
import type { AttachmentId } from '@heddle/cni';
import { chain, delete_, flush, type KernelSession, type NftChange } from '@heddle/netlink';
import { commitPlanned } from '../owned-elements.ts';

/** Takes it away for one interface of a container; nothing there is fine. The shared chain stays. */
export async function removeReferenceSpoofCheck(
  host: KernelSession,
  tables: ReadonlySet<string>,
  { containerID, ifName }: AttachmentId,
): Promise<void> {
  if (!tables.has('bridge nat')) return;
  const table = { family: 'bridge', table: 'nat' } as const;
  const name = `cni-br-iface-${containerID}-${ifName}`;
  const comment = `macspoofchk-${containerID}-${ifName}`;
  await commitPlanned(host, async () => {
    const rules = await host.nft.rules({ ...table, chain: 'PREROUTING' });
    const present = new Set((await host.nft.chains(table)).map((each) => each.name));
    const own = [name, `${name}-mac`].filter((each) => present.has(each));
    return [
      ...rules.filter((rule) => rule.comment === comment).map(delete_),
      // All are emptied before any is deleted: the first leads to the second.
      ...own.map((each): NftChange => flush(chain({ ...table, name: each }))),
      ...own.map((each): NftChange => delete_(chain({ ...table, name: each }))),
    ];
  });
}
