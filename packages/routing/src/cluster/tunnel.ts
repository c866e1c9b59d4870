/** What a node's overlay devices are known by: a MAC and addresses. */
import { createHash } from 'node:crypto';
import {
  allocateAddresses,
  handleCodec,
  KEYS,
  type Member,
  type Pool,
  parseSelector,
  releaseHandle,
} from '@heddle/ipam/blocks';
import { type Addr, Mac } from '@heddle/netaddr';
import type { Store } from '@heddle/store';

/**
 * The MAC of a node's overlay devices. It follows from the node's name, so it survives restarts, and neighbours need not
 * be told anew.
 */
export function tunnelMac(node: string): Mac {
  const bytes = createHash('sha256').update(`heddle tunnel ${node}`).digest().subarray(0, 6);
  // Locally administered, and of one station.
  bytes[0] = ((bytes[0] ?? 0) & 0xfc) | 0x02;
  return Mac.fromBytes(bytes);
}

/**
 * The handle under which a node's tunnel address of a family stands: each comes and goes by itself, with the pools.
 *
 * @example tunnelHandle('n1', 4) // 'tunnel.n1'
 */
export function tunnelHandle(node: string, family: 4 | 6): string {
  return family === 4 ? `tunnel.${node}` : `tunnel.${node}.6`;
}

/** Whether a handle of this node is that of a tunnel address, which has no attachment. */
export function isTunnelHandle(node: string, handle: string): boolean {
  return handle === tunnelHandle(node, 4) || handle === tunnelHandle(node, 6);
}

/** The tunnel addresses that stand in the store. */
export async function readTunnelAddresses(store: Store, node: string): Promise<readonly Addr[]> {
  const found: Addr[] = [];
  for (const family of FAMILIES) {
    const entry = await store.get(KEYS.handle(node, tunnelHandle(node, family)));
    if (entry !== undefined) found.push(...handleCodec.decode(entry).addresses.map(({ addr }) => addr));
  }
  return found;
}

/**
 * Takes the tunnel addresses that these pools ask for: one of each family that is wrapped on its way, so that what a
 * node itself sends to pods elsewhere has a source that comes back by the overlay. Gives back those that are not needed.
 *
 * @throws {IpamError} {@link StoreError} what was taken before stands
 */
export async function takeTunnelAddresses(member: Member, pools: Iterable<Pool>): Promise<readonly Addr[]> {
  const wrapped = [...pools].filter(({ encapsulation }) => encapsulation !== 'never');
  const found: Addr[] = [];
  for (const family of FAMILIES) {
    const handle = tunnelHandle(member.node, family);
    const ofFamily = wrapped.filter(({ cidr }) => cidr.family === family);
    if (ofFamily.length === 0) {
      await releaseHandle(member, handle);
      continue;
    }
    const entry = await member.store.get(KEYS.handle(member.node, handle));
    if (entry !== undefined) {
      found.push(...handleCodec.decode(entry).addresses.map(({ addr }) => addr));
      continue;
    }
    const usable = ofFamily.filter((pool) => isUsable(member, pool)).map(({ name }) => name);
    if (usable.length === 0) continue;
    const taken = await allocateAddresses(member, { handle, families: [family], pools: usable });
    found.push(...taken.map(({ address }) => address.addr));
  }
  return found;
}

const FAMILIES = [4, 6] as const;

function isUsable({ labels = {} }: Member, { disabled, nodeSelector, name }: Pool): boolean {
  const wrong = (why: string) => new Error(`pool ${name}: ${why}`);
  return !disabled && parseSelector(nodeSelector, wrong)(labels);
}
