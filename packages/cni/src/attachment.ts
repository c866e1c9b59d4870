/**
 * The identity of an attachment, a container's interface on a network, and the rules for its parts.
 * The parts end up in file paths, link names and rule comments: nothing may touch them before they passed here.
 */
import { CNI_CODE } from './codes.ts';
import { CniError, UsageError } from './errors.ts';

/** A container's interface on a network. */
export interface AttachmentId {
  readonly network: string;
  readonly containerID: string;
  readonly ifName: string;
}

/** An attachment as the members of `cni.dev/valid-attachments` spell it. */
export interface ValidAttachment {
  readonly containerID: string;
  readonly ifname: string;
}

/**
 * The keys under which a runtime tells GC what is alive: the specification's, and the one that the reference
 * sends beside it because some plugins know only that.
 */
export const VALID_ATTACHMENT_KEYS = ['cni.dev/valid-attachments', 'cni.dev/attachments'] as const;

/** The longest interface name, in bytes (IFNAMSIZ less the closing zero; linux/if.h). */
export const IFNAME_MAX = 15;

/**
 * One string per attachment, for maps and locks. No two attachments share one: no valid part has a slash.
 *
 * @example attachmentKey({ network: 'n1', containerID: 'c1', ifName: 'eth0' }) // 'n1/c1/eth0'
 */
export function attachmentKey({ network, containerID, ifName }: AttachmentId): string {
  return `${network}/${containerID}/${ifName}`;
}

/** True when both name the same attachment. */
export function sameAttachment(a: AttachmentId, b: AttachmentId): boolean {
  return a.network === b.network && a.containerID === b.containerID && a.ifName === b.ifName;
}

/**
 * Checks all three parts, in the reference's order.
 *
 * @throws {CniError} for the first part that is not valid.
 */
export function validateAttachment(id: AttachmentId): void {
  validateContainerId(id.containerID);
  validateNetworkName(id.network);
  validateIfName(id.ifName);
}

/** @throws {CniError} code 3 for an empty container ID, 4 for one with other than letters, digits and `_.-`. */
export function validateContainerId(containerID: string): void {
  if (containerID === '') throw new CniError(CNI_CODE.UNKNOWN_CONTAINER, 'missing containerID');
  if (!NAME.test(containerID)) {
    throw new UsageError('invalid characters in containerID', { cniDetails: containerID });
  }
}

/** @throws {CniError} code 7 for a network name that is empty or has other than letters, digits and `_.-`. */
export function validateNetworkName(name: string): void {
  if (name === '') throw new CniError(CNI_CODE.INVALID_CONFIG, 'missing network name');
  if (!NAME.test(name)) {
    throw new CniError(CNI_CODE.INVALID_CONFIG, 'invalid characters found in network name', {
      cniDetails: name,
    });
  }
}

/** @throws {UsageError} code 4 for a name that the kernel would not take as an interface's. */
export function validateIfName(ifName: string): void {
  if (ifName === '') throw new UsageError('interface name is empty');
  if (utf8.encode(ifName).length > IFNAME_MAX) {
    throw new UsageError('interface name is too long', {
      cniDetails: 'interface name should be less than 16 characters',
    });
  }
  if (ifName === '.' || ifName === '..') throw new UsageError('interface name is . or ..');
  if (ifName.includes('%') || ifName === 'all' || ifName === 'default') {
    throw new UsageError('interface name has a meaning of its own to the kernel', { cniDetails: ifName });
  }
  if (FORBIDDEN_IN_IFNAME.test(ifName)) {
    throw new UsageError('interface name contains / or : or whitespace characters');
  }
}

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
// Unicode's White_Space, which is not quite JavaScript's \s: U+0085 is in it, U+FEFF is not.
const FORBIDDEN_IN_IFNAME = /[/:\p{White_Space}]/u;
const utf8 = new TextEncoder();
