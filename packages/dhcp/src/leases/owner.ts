/** Whose a lease is. */
import { sha512 } from '@heddle/sys';

/** An attachment of a container to a network. */
export interface LeaseOwner {
  readonly network: string;
  readonly containerID: string;
  readonly ifName: string;
}

/**
 * Option 61 of an owner: a type byte of 0, which says "no hardware address", and `<container>/<network>/<interface>`,
 * as the reference has it; what is longer than an option can hold is cut off.
 */
export function clientIdOf(owner: LeaseOwner): Uint8Array {
  const text = new TextEncoder().encode(ownerName(owner)).subarray(0, LONGEST);
  return Uint8Array.from([0, ...text]);
}

/** The owner in words, and as a key. */
export function ownerName({ network, containerID, ifName }: LeaseOwner): string {
  return `${containerID}/${network}/${ifName}`;
}

/** A name for a file about an owner. */
export function ownerFile(owner: LeaseOwner): string {
  return `${sha512(ownerName(owner)).slice(0, 32)}.json`;
}

const LONGEST = 254;
