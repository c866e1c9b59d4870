/** What follows from a node's name. */
import { createHash } from 'node:crypto';
import { Mac } from '@heddle/netaddr';

/**
 * The MAC of a node's overlay device. It follows from the node's name, so it survives restarts, and neighbours need not
 * be told anew.
 */
export function tunnelMac(node: string): Mac {
  const bytes = createHash('sha256').update(`heddle tunnel ${node}`).digest().subarray(0, 6);
  // Locally administered, and of one station.
  bytes[0] = ((bytes[0] ?? 0) & 0xfc) | 0x02;
  return Mac.fromBytes(bytes);
}

/** The handle under which a node's tunnel addresses stand. */
export function tunnelHandle(node: string): string {
  return `tunnel.${node}`;
}
