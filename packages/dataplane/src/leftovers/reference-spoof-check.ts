/**
 * What the reference's spoof check wrote: two chains for each interface, walked one after the other.
 *
 * ```
 * table bridge nat
 *   chain PREROUTING                    iifname "veth1" jump cni-br-iface-c1-eth0
 *   chain cni-br-iface-c1-eth0          jump cni-br-iface-c1-eth0-mac
 *   chain cni-br-iface-c1-eth0-mac      ether saddr 02:00:00:00:00:01 return; drop
 * ```
 */
import type { AttachmentId } from '@heddle/cni';
import type { Mac } from '@heddle/netaddr';
import {
  chain,
  delete_,
  drop,
  ether,
  flush,
  jump,
  type KernelSession,
  match,
  meta,
  type NftChange,
  ret,
} from '@heddle/netlink';
import { commitPlanned } from '../owned-elements.ts';
import { missingRules, type ReferenceRule } from './reference-rules.ts';

/** Takes it away for one interface of a container; nothing there is fine. The shared chain stays. */
export async function removeReferenceSpoofCheck(
  host: KernelSession,
  tables: ReadonlySet<string>,
  owner: AttachmentId,
): Promise<void> {
  if (!tables.has(NAME)) return;
  const names = namesOf(owner);
  await commitPlanned(host, async () => {
    const rules = await host.nft.rules({ ...TABLE, chain: SHARED });
    const present = new Set((await host.nft.chains(TABLE)).map((each) => each.name));
    const own = [names.entry, names.mac].filter((each) => present.has(each));
    return [
      ...rules.filter((rule) => rule.comment === names.comment).map(delete_),
      // All are emptied before any is deleted: the first leads to the second.
      ...own.map((each): NftChange => flush(chain({ ...TABLE, name: each }))),
      ...own.map((each): NftChange => delete_(chain({ ...TABLE, name: each }))),
    ];
  });
}

/** What is missing of it for one interface of a container, in words; `undefined` when there is nothing at all. */
export async function missingReferenceSpoofCheck(
  host: KernelSession,
  tables: ReadonlySet<string>,
  owner: AttachmentId,
  { hostLink, mac }: { readonly hostLink: string; readonly mac: Mac },
): Promise<readonly string[] | undefined> {
  if (!tables.has(NAME)) return undefined;
  const names = namesOf(owner);
  const own = (await host.nft.rules(TABLE)).filter(({ comment }) => comment === names.comment);
  if (own.length === 0) return undefined;
  const wanted: readonly ReferenceRule[] = [
    {
      ...{ chain: SHARED, text: `iifname "${hostLink}" jump ${names.entry}` },
      expressions: [match(meta.iifname, 'eq', hostLink), jump(names.entry)],
    },
    { chain: names.entry, text: `jump ${names.mac}`, expressions: [jump(names.mac)] },
    {
      ...{ chain: names.mac, text: `ether saddr ${mac} return` },
      expressions: [match(ether.saddr, 'eq', mac), ret()],
    },
    { chain: names.mac, text: 'drop', expressions: [drop()] },
  ];
  return missingRules(TABLE, own, wanted);
}

const TABLE = { family: 'bridge', table: 'nat' } as const;
const NAME = `${TABLE.family} ${TABLE.table}`;
const SHARED = 'PREROUTING';

function namesOf({
  containerID,
  ifName,
}: AttachmentId): Readonly<Record<'entry' | 'mac' | 'comment', string>> {
  const entry = `cni-br-iface-${containerID}-${ifName}`;
  return { entry, mac: `${entry}-mac`, comment: `macspoofchk-${containerID}-${ifName}` };
}
