/**
 * Connections that the kernel remembers from before a change of published ports. A UDP client that keeps its port would
 * otherwise be sent, for as long as it goes on sending, to where its first packet went: to a pod that is gone, or past
 * the mapping to the node itself.
 */
import type { Addr } from '@heddle/netaddr';
import type { Flow, KernelSession } from '@heddle/netlink';
import { type OwnedElement, targetOf } from './owned-elements.ts';
import { boundTo, mappingsOf, type PortMaps } from './port-mapping.ts';

/** A UDP port of the node, and the pod that it leads or led to. */
export interface PublishedPort {
  readonly hostPort: number;
  readonly pod: Addr;
}

/** The UDP ports among elements that were removed, and among the mappings of a configuration. */
export function publishedPorts(removed: readonly OwnedElement[], maps?: PortMaps): readonly PublishedPort[] {
  const fromElements = removed.flatMap(({ element }): PublishedPort[] => {
    const pod = targetOf(element);
    const key: readonly unknown[] = Array.isArray(element.key) ? element.key : [];
    const hostPort = key.at(-1);
    return pod !== undefined && typeof hostPort === 'number' && key.includes('udp')
      ? [{ pod, hostPort }]
      : [];
  });
  const fromMaps = (maps?.targets ?? []).flatMap(({ addr }) =>
    (maps?.mappings ?? [])
      .filter(({ protocol }) => protocol === 'udp')
      .map(({ hostPort }): PublishedPort => ({ pod: addr, hostPort })),
  );
  return [...fromElements, ...fromMaps];
}

/**
 * After ADD: forgets UDP connections to the published ports, but for those that lead to the container already. What
 * only passes through the node, to such a port elsewhere, is left alone.
 */
export async function forgetFlowsBefore(host: KernelSession, maps: PortMaps): Promise<void> {
  for (const { family, addr } of maps.targets) {
    const mappings = mappingsOf(family, maps.mappings).filter(({ protocol }) => protocol === 'udp');
    if (mappings.length === 0) continue;
    const local = new Set((await host.addresses.list({ family })).map(({ prefix }) => String(prefix.addr)));
    await forget(host, family, ({ original, reply }) =>
      mappings.some((mapping) => {
        if (original.dport !== mapping.hostPort || reply.src.equals(addr)) return false;
        const bound = boundTo(mapping);
        if (bound !== undefined) return original.dst.equals(bound);
        return original.dst.isLoopback || local.has(String(original.dst));
      }),
    );
  }
}

/** After DEL: forgets the UDP connections that led to pods by these ports. */
export async function forgetFlowsTo(host: KernelSession, ports: readonly PublishedPort[]): Promise<void> {
  for (const family of [4, 6] as const) {
    const some = ports.filter(({ pod }) => pod.family === family);
    if (some.length === 0) continue;
    await forget(host, family, ({ original, reply }) =>
      some.some(({ hostPort, pod }) => original.dport === hostPort && reply.src.equals(pod)),
    );
  }
}

const IPPROTO_UDP = 17;

async function forget(
  { conntrack }: KernelSession,
  family: 4 | 6,
  matches: (flow: Flow) => boolean,
): Promise<void> {
  await conntrack.deleteMatching(matches, { family, protocol: IPPROTO_UDP });
}
