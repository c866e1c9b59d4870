/** The host's end of the container's veth pair: whatever limits there are, are put there. */
import { CNI_CODE, CniError, type Result } from '@heddle/cni';
import type { KernelSession, Link } from '@heddle/netlink';

/** Where to look for it. */
export interface Attached {
  readonly host: KernelSession;
  readonly container: KernelSession;
  readonly ifName: string;
}

/**
 * The host's end. The kernel says which it is; what the result lists is only needed to be sure of it when the
 * other end's index could be anybody's.
 *
 * @throws {CniError} code 140 when the container's interface has no end on the host
 */
export async function hostSideOf({ host, container, ifName }: Attached, result: Result): Promise<Link> {
  const inside = await container.links.find(ifName);
  if (inside === undefined) throw missing(`container interface ${ifName} does not exist`);
  if (inside.kind !== 'veth' || inside.parent === undefined) {
    throw missing(
      `container interface ${ifName} has no veth peer: it is a ${inside.kind ?? 'link without a kind'} and has no host side to shape`,
    );
  }
  const outside = await findPeer(host, inside);
  if (outside !== undefined) return outside;
  const listed = (result.interfaces ?? [])
    .filter(({ sandbox = '' }) => sandbox === '')
    .map(({ name }) => name);
  throw missing(
    `no veth peer of container interface ${ifName} found in host ns: no veth with index ${inside.parent} there`,
    listed.length === 0
      ? 'prevResult lists no interfaces on the host'
      : `prevResult lists ${listed.join(', ')}`,
  );
}

/** The other end of a veth of the container, if it is in the host's namespace. */
export async function findPeer(host: KernelSession, inside: Link): Promise<Link | undefined> {
  // Without the number of another namespace, the other end is in the same one.
  if (inside.kind !== 'veth' || inside.parent === undefined || inside.parentNetnsId === undefined) {
    return undefined;
  }
  const peer = await host.links.find(inside.parent);
  return peer?.kind === 'veth' && peer.parent === inside.index ? peer : undefined;
}

function missing(message: string, details?: string): CniError {
  return new CniError(CNI_CODE.NOT_FOUND, message, { ...(details !== undefined && { cniDetails: details }) });
}
