/** Sending what comes in by one link through another: an `ingress` discipline with one filter that takes everything. */
import {
  type Change,
  type KernelSession,
  NetlinkError,
  TC_H,
  type TrafficFilter,
  tcHandle,
} from '@heddle/netlink';

/** Where filters of an `ingress` discipline sit. */
const INGRESS = tcHandle(0xffff);

/** A change that sends everything that comes in by `from` out by `to`. The `ingress` discipline must be there. */
export function redirection(host: KernelSession, from: number, to: number): Change {
  return host.filters.plan.add({
    link: from,
    parent: INGRESS,
    priority: 1,
    kind: 'u32',
    classId: tcHandle(1, 1),
    actions: [{ kind: 'mirred', how: 'egress-redirect', link: to }],
  });
}

/** Whether a {@link redirection} is in force. */
export async function isRedirected(host: KernelSession, from: number, to: number): Promise<boolean> {
  return (await redirections(host, from)).includes(to);
}

/** What each filter does with what comes in by a link: the index of the link that it sends it to, or `undefined`. */
export async function redirections(
  host: KernelSession,
  from: number,
): Promise<readonly (number | undefined)[]> {
  const filters = await ingressFilters(host, from);
  return filters.map(({ u32 }) => {
    const [first] = u32?.actions ?? [];
    return first?.kind === 'mirred' && first.how === 'egress-redirect' ? first.link : undefined;
  });
}

/** Takes the `ingress` discipline away, with its filters. */
export async function deleteIngress(host: KernelSession, link: number): Promise<void> {
  await host.qdiscs.delete({ link, handle: INGRESS, parent: TC_H.INGRESS });
}

async function ingressFilters(host: KernelSession, link: number): Promise<readonly TrafficFilter[]> {
  try {
    return await host.filters.list({ link, parent: INGRESS });
  } catch (error) {
    // Without an `ingress` discipline there are none.
    if (NetlinkError.is(error, 'EINVAL', 'ENOENT')) return [];
    throw error;
  }
}
