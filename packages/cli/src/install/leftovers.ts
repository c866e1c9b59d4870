/**
 * What plugins leave on a node after the last attachment, because all attachments share it: the bridge of the first
 * network, the tables of nftables, and that the node passes packets on.
 */
import { delete_, type KernelSession, type NftFamily, table } from '@heddle/netlink';
import { FIRST_BRIDGE } from './first-network.ts';

/** One thing that stays. */
export interface Leftover {
  /** In words, such as `table inet heddle`. */
  readonly what: string;
  /** Takes it away; missing for what others of the node may rely on. */
  readonly remove?: () => Promise<void>;
}

/** The tables of ours in nftables, as docs/numbers.md lists them. */
export const OWN_TABLES: readonly { readonly family: NftFamily; readonly name: string }[] = [
  { family: 'inet', name: 'heddle' },
  { family: 'bridge', name: 'heddle' },
  { family: 'inet', name: 'heddle-doctor' },
];

/** Looks for what stays. The removals work while the session is open. */
export async function findLeftovers(host: KernelSession): Promise<readonly Leftover[]> {
  return [...(await bridge(host)), ...(await tables(host)), ...(await forwarding(host))];
}

async function bridge({ links }: KernelSession): Promise<readonly Leftover[]> {
  const found = await links.find(FIRST_BRIDGE);
  if (found === undefined) return [];
  const ports = (await links.list()).filter(({ master }) => master === found.index).map(({ name }) => name);
  if (ports.length > 0) return [{ what: `bridge ${FIRST_BRIDGE}, with ${ports.join(', ')} in it` }];
  return [{ what: `bridge ${FIRST_BRIDGE}`, remove: () => links.delete(FIRST_BRIDGE) }];
}

async function tables({ nft }: KernelSession): Promise<readonly Leftover[]> {
  const present = await nft.tables();
  return OWN_TABLES.filter(({ family, name }) =>
    present.some((each) => each.family === family && each.name === name),
  ).map((each) => ({
    what: `table ${each.family} ${each.name}`,
    remove: async () => {
      await nft.commit([delete_(table(each))]);
    },
  }));
}

async function forwarding({ sysctl }: KernelSession): Promise<readonly Leftover[]> {
  const settings = ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding'];
  const on: string[] = [];
  for (const name of settings) {
    if ((await sysctl.has(name)) && (await sysctl.read(name)) === '1') on.push(name);
  }
  return on.map((name) => ({ what: `${name.replaceAll('/', '.')} = 1, which others may rely on` }));
}
