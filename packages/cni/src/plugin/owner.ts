/**
 * How what an attachment leaves in the kernel names its owner. A link's name is derived from its owner,
 * because the kernel takes no alias in the message that creates a link; the alias then says the rest. Rules
 * and set elements carry a comment in the form that the reference's nftables backend writes.
 */
import { sha512 } from '@heddle/sys';
import { parseCniArgsLeniently } from '../args.ts';
import { type AttachmentId, attachmentKey } from '../attachment.ts';

/** An owner as comments hold it: hashes of its network, and of its interface and container. */
export interface OwnerTag {
  /** First 16 hex digits of the SHA-512 of the network's name. */
  readonly network: string;
  /** First 16 hex digits of the SHA-512 of `<ifname>:<container ID>`. */
  readonly id: string;
}

/** What a comment says of its owner; long names may be cut off or missing. */
export interface OwnerComment {
  readonly tag: OwnerTag;
  readonly network?: string;
  readonly ifName?: string;
  readonly containerID?: string;
}

/** What a link's alias says of its owner. */
export interface OwnerAlias extends AttachmentId {
  /** The Kubernetes namespace, name and UID of the pod, where the runtime told them in CNI_ARGS. */
  readonly podNamespace?: string;
  readonly podName?: string;
  readonly podUid?: string;
}

/** The longest comment that nft prints (NFTNL_UDATA_COMMENT_MAXLEN in nft). */
export const COMMENT_MAX = 128;
/** The longest alias, without its closing zero (IFALIASZ; linux/if.h). */
export const ALIAS_MAX = 255;

/** The hashes that identify an attachment in comments. */
export function ownerTag({ network, containerID, ifName }: AttachmentId): OwnerTag {
  return { network: networkTag(network), id: hash(`${ifName}:${containerID}`) };
}

/** The hash that identifies a network in comments. */
export function networkTag(network: string): string {
  return hash(network);
}

/** A tag as one string, for sets and comparisons. */
export function tagKey(tag: OwnerTag): string {
  return `${tag.network}-${tag.id}`;
}

/**
 * The comment for everything that an attachment owns in nftables.
 *
 * @example ownerComment({ network: 'unit-test', containerID: 'one', ifName: 'eth0' })
 * // '6fd94d501e58f0aa-287fc69eff0574a2, net: unit-test, if: eth0, id: one'
 */
export function ownerComment(attachment: AttachmentId): string {
  const { network, containerID, ifName } = attachment;
  const text = `${tagKey(ownerTag(attachment))}, net: ${network}, if: ${ifName}, id: ${containerID}`;
  return cutBytes(text.replaceAll('"', ''), COMMENT_MAX);
}

/** Reads a comment that {@link ownerComment}, or the reference's masquerade, wrote. */
export function parseOwnerComment(text: string): OwnerComment | undefined {
  const found = /^([0-9a-f]{16})-([0-9a-f]{16})(?:, net: ([^,]*))?(?:, if: ([^,]*))?(?:, id: ([^,]*))?/.exec(
    text,
  );
  const [, network, id, name, ifName, containerID] = found ?? [];
  if (network === undefined || id === undefined) return undefined;
  return {
    tag: { network, id },
    ...(name !== undefined && { network: name }),
    ...(ifName !== undefined && { ifName }),
    ...(containerID !== undefined && { containerID }),
  };
}

/**
 * The name of an attachment's link in the host's namespace: `veth` and eight hex digits.
 *
 * @param attempt counts up from 0 when another owner's link has the name already
 */
export function hostLinkName(attachment: AttachmentId, attempt = 0): string {
  const key = attachmentKey(attachment);
  return `veth${hash(attempt === 0 ? key : `${key}#${attempt}`).slice(0, 8)}`;
}

/**
 * The alias of an attachment's link: compact JSON behind `heddle:`, at most {@link ALIAS_MAX} bytes. Of the pod's
 * facts what does not fit is left out, from the end; names that do not fit give way to their tag, all three
 * together, for less than all names nobody.
 *
 * @param cniArgs CNI_ARGS, where Kubernetes runtimes put the pod's namespace, name and UID
 */
export function ownerAlias(attachment: AttachmentId, cniArgs = ''): string {
  const args = new Map(parseCniArgsLeniently(cniArgs));
  const names: [string, string][] = [
    ['net', attachment.network],
    ['id', attachment.containerID],
    ['if', attachment.ifName],
  ];
  const facts: [string, string | undefined][] = [
    ['uid', args.get('K8S_POD_UID')],
    ['ns', args.get('K8S_POD_NAMESPACE')],
    ['pod', args.get('K8S_POD_NAME')],
  ];
  const told = facts.filter(([, value]) => value !== undefined && value !== '');
  for (let count = told.length; count >= 0; count--) {
    const members = Object.fromEntries([...names, ...told.slice(0, count)]);
    const text = `${ALIAS_PREFIX}${JSON.stringify(members)}`;
    if (Buffer.byteLength(text) <= ALIAS_MAX) return text;
  }
  return `${ALIAS_PREFIX}${JSON.stringify({ tag: tagKey(ownerTag(attachment)) })}`;
}

/** Reads an alias that {@link ownerAlias} wrote and that names its attachment. */
export function parseOwnerAlias(alias: string | undefined): OwnerAlias | undefined {
  if (alias === undefined || !alias.startsWith(ALIAS_PREFIX)) return undefined;
  try {
    const {
      net,
      id,
      if: ifName,
      ns,
      pod,
      uid,
    } = JSON.parse(alias.slice(ALIAS_PREFIX.length)) as Record<string, unknown>;
    if (typeof net !== 'string' || typeof id !== 'string' || typeof ifName !== 'string') return undefined;
    return {
      network: net,
      containerID: id,
      ifName,
      ...(typeof ns === 'string' && { podNamespace: ns }),
      ...(typeof pod === 'string' && { podName: pod }),
      ...(typeof uid === 'string' && { podUid: uid }),
    };
  } catch {
    // Someone else's alias that happens to begin alike is nobody's of ours.
    return undefined;
  }
}

/** True for an alias that names this attachment, also where the names were too long to be told. */
export function isAliasOf(attachment: AttachmentId, alias: string | undefined): boolean {
  if (alias === undefined || !alias.startsWith(ALIAS_PREFIX)) return false;
  const owner = parseOwnerAlias(alias);
  if (owner !== undefined) return attachmentKey(owner) === attachmentKey(attachment);
  return alias === `${ALIAS_PREFIX}${JSON.stringify({ tag: tagKey(ownerTag(attachment)) })}`;
}

/** The tag of the owner that an alias names, for garbage collection. */
export function aliasTag(alias: string | undefined): OwnerTag | undefined {
  const owner = parseOwnerAlias(alias);
  if (owner !== undefined) return ownerTag(owner);
  const [, network, id] = /^heddle:\{"tag":"([0-9a-f]{16})-([0-9a-f]{16})"\}$/.exec(alias ?? '') ?? [];
  return network === undefined || id === undefined ? undefined : { network, id };
}

const ALIAS_PREFIX = 'heddle:';

function hash(text: string): string {
  return sha512(text).slice(0, 16);
}

function cutBytes(text: string, size: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= size) return text;
  let end = size;
  // Not in the middle of a character: continuation bytes are 10xxxxxx.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
