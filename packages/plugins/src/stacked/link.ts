/**
 * Making a link on a master. The kernel puts it into the container in the message that makes it, so nothing is
 * ever left on the host, and with the container it goes.
 */
import { type AttachmentId, CNI_CODE, CniError, toCniError } from '@heddle/cni';
import { type AddCall, hostLinkName, ownerAlias } from '@heddle/cni/plugin';
import { type KernelSession, type Link, NetlinkError } from '@heddle/netlink';
import type { StackedConfig } from './config.ts';
import type { StackedKind } from './kind.ts';

/**
 * Makes the container's link, and registers its undo. It is down.
 *
 * @throws {CniError} code 141 when the container has an interface of that name; with the kernel's words when it
 *   refuses
 */
export async function makeLink<C extends StackedConfig>(
  call: AddCall<C>,
  kind: StackedKind<C>,
  master: Link,
): Promise<Link> {
  const { container, ifName, attachment, undo } = call;
  const name = await addLink(call, kind, master);
  undo.push(`delete link ${name}`, () => container.links.delete(name));
  const link = await container.links.get(name);
  undo.push(`delete link ${ifName}`, () => container.links.delete(link.index));
  try {
    await container.links.set(link.index, { name: ifName, alias: ownerAlias(attachment, call.cniArgs) });
  } catch (error) {
    throw NetlinkError.is(error, 'EEXIST') ? taken(ifName, error) : error;
  }
  return { ...link, name: ifName };
}

/**
 * The link of an ADD that died before it could give the link its name and owner; `undefined` when there is
 * none. The name is derived from the attachment, so it tells.
 */
export async function findUnfinished(
  container: KernelSession,
  attachment: AttachmentId,
  kind: string,
): Promise<Link | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const link = await container.links.find(hostLinkName(attachment, attempt));
    if (link === undefined || isUnfinished(link, kind)) return link;
  }
  return undefined;
}

function isUnfinished(link: Link, kind: string): boolean {
  return link.kind === kind && link.alias === undefined;
}

/** Adds the link and returns the name that it has for now. */
async function addLink<C extends StackedConfig>(
  call: AddCall<C>,
  kind: StackedKind<C>,
  master: Link,
): Promise<string> {
  const { config, container, host, ifName, attachment } = call;
  const { mtu } = config;
  const spec = {
    ...kind.options(config),
    parent: master.index,
    mac: kind.requestedMac?.(call),
    ...(mtu > 0 && { mtu }),
  };
  if (config.linkInContainer) {
    try {
      await container.links.add({ ...spec, name: ifName });
      return ifName;
    } catch (error) {
      const isTaken = NetlinkError.is(error, 'EEXIST') && (await hasLink(container, ifName));
      throw isTaken ? taken(ifName, error) : refused(kind, master, error);
    }
  }
  for (let attempt = 0, tries = 0; tries < ATTEMPTS; tries++) {
    // Kernels before 6.15 refuse a name that the host has, too, so it is not the final one at first.
    const name = hostLinkName(attachment, attempt);
    try {
      await host.links.add({ ...spec, name, netns: container.handle });
      return name;
    } catch (error) {
      if (!NetlinkError.is(error, 'EEXIST')) throw refused(kind, master, error);
      const inside = await container.links.find(name);
      if (inside !== undefined && isUnfinished(inside, kind.kind)) await container.links.delete(name);
      else if (inside !== undefined || (await hasLink(host, name))) attempt++;
      // It is not the name that is there already: a master has one link for each VLAN.
      else throw refused(kind, master, error);
    }
  }
  throw taken(hostLinkName(attachment));
}

async function hasLink(session: KernelSession, name: string): Promise<boolean> {
  return (await session.links.find(name)) !== undefined;
}

function refused<C extends StackedConfig>(kind: StackedKind<C>, master: Link, cause: unknown): CniError {
  const { cniCode, message } = toCniError(cause);
  const unknown = NetlinkError.is(cause, 'EOPNOTSUPP');
  return new CniError(cniCode, `cannot put a ${kind.kind} on ${master.name}: ${message}`, {
    cause,
    ...(unknown && { hint: `the kernel needs the module ${kind.module}; see: modprobe ${kind.module}` }),
  });
}

function taken(name: string, cause?: unknown): CniError {
  return new CniError(CNI_CODE.EXISTS, `the container has an interface ${name} already`, { cause });
}

const ATTEMPTS = 10;
