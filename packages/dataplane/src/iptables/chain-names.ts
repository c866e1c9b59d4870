/**
 * The names of the reference's iptables chains, so that Heddle and the reference take over from one another.
 * Source: reference plugins, pkg/utils (FormatChainName) and plugins/meta/portmap.
 */
import type { AttachmentId } from '@heddle/cni';
import { sha512 } from '@heddle/sys';

/** Chains that all port maps share. */
export const SHARED_CHAIN = {
  /** Jumps to the chain of each container, by port. */
  dnat: 'CNI-HOSTPORT-DNAT',
  /** Marks what has to be masqueraded. */
  setMark: 'CNI-HOSTPORT-SETMARK',
  /** Masquerades what is marked. */
  masquerade: 'CNI-HOSTPORT-MASQ',
  /** What releases before 0.8 used in place of the mark. */
  legacySnat: 'CNI-HOSTPORT-SNAT',
} as const;

/** The chain of a container's port maps. The interface is not part of it. */
export function portMapChain(owner: AttachmentId): string {
  return chainName('CNI-DN-', owner);
}

/** The chain that old releases of portmap had beside {@link portMapChain}. */
export function legacySnatChain(owner: AttachmentId): string {
  return chainName('CNI-SN-', owner);
}

/** The chain of a container's masquerade. */
export function masqueradeChain(owner: AttachmentId): string {
  return chainName('CNI-', owner);
}

/** The comment of masquerade rules; the same with `dnat ` before it, of port map entries. */
export function ownerWords({ network, containerID }: AttachmentId): string {
  return `name: "${network}" id: "${containerID}"`;
}

/** A comment as long as xt_comment takes it (XT_MAX_COMMENT_LEN, with its closing zero). */
export function cutComment(text: string): string {
  return text.length <= 255 ? text : `${text.slice(0, 252)}...`;
}

/** The longest name of a chain that iptables takes (XT_EXTENSION_MAXNAMELEN less one). */
const CHAIN_NAME_MAX = 28;

function chainName(prefix: string, { network, containerID }: AttachmentId): string {
  return `${prefix}${sha512(`${network}${containerID}`)}`.slice(0, CHAIN_NAME_MAX);
}
