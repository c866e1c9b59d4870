/** Whether the ways to the other ends of tunnels take the packets that the tunnels make. */
import type { Addr } from '@heddle/netaddr';
import type { Link } from '@heddle/netlink';
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';
import { EchoProbe } from '../probe/echo.ts';
import { type PathMtu, pathMtu } from '../probe/path-mtu.ts';
import { found, type Rule } from '../rule.ts';
import { some } from './check.ts';

/** Bytes that a tunnel adds to a packet, over IPv4. */
export const OVERHEAD: Readonly<Record<string, number>> = { vxlan: 50, geneve: 50, ipip: 20, wireguard: 60 };
/** How much longer a header of IPv6 is. */
const LONGER = 20;
/** Of many peers, only so many are asked: the node has one way to most of them. */
const MOST_PEERS = 16;

/** A peer behind which packets of full size are lost. */
interface Narrow {
  readonly peer: Addr;
  readonly works: number;
  readonly size: number;
}

/**
 * Asks the peers of VXLAN and Geneve links, as the node's forwarding tables name them, with packets as large as the
 * tunnel's may become.
 *
 * @param carrierOf the link that a tunnel's packets leave by
 */
export async function narrowTunnels(
  view: NodeView,
  rule: Rule,
  carrierOf: (link: Link) => Link | undefined,
): Promise<readonly Finding[]> {
  // Raw sockets are root's.
  if (view.ports.machine.uid !== 0) return [];
  const findings: Finding[] = [];
  for (const link of view.links) {
    if (!link.up || (link.kind !== 'vxlan' && link.kind !== 'geneve')) continue;
    const carrier = carrierOf(link);
    const narrow: Narrow[] = [];
    for (const peer of (await peersOf(view, link)).slice(0, MOST_PEERS)) {
      const size = link.mtu + overheadTo(link, peer);
      // A tunnel that does not fit the node's own link is told as such.
      if (carrier === undefined || size > carrier.mtu) continue;
      const path = await tryWay(view, peer, size);
      if (path.kind === 'too-small' && path.silent && path.works > 0)
        narrow.push({ peer, works: path.works, size });
    }
    findings.push(...told(rule, link, narrow));
  }
  return findings;
}

function overheadTo({ kind = '' }: Link, { family }: Addr): number {
  return (OVERHEAD[kind] ?? 0) + (family === 6 ? LONGER : 0);
}

async function peersOf({ host }: NodeView, { index, data }: Link): Promise<readonly Addr[]> {
  const remote = data?.kind === 'vxlan' || data?.kind === 'geneve' ? data.remote : undefined;
  const entries = data?.kind === 'vxlan' ? await host.bridge.fdb(index) : [];
  const all = [...(remote === undefined ? [] : [remote]), ...entries.flatMap(({ dst }) => dst ?? [])];
  const unicast = all.filter((addr) => !addr.isMulticast && !addr.isUnspecified);
  return [...new Map(unicast.map((addr) => [String(addr), addr])).values()];
}

async function tryWay({ host, ports }: NodeView, target: Addr, size: number): Promise<PathMtu> {
  const [high = 0, low = 0] = ports.randomBytes(2);
  using probe = new EchoProbe(host.handle, target.family, high * 256 + low);
  return await pathMtu(probe, { target, size });
}

function told(rule: Rule, link: Link, narrow: readonly Narrow[]): readonly Finding[] {
  const [worst] = narrow.toSorted((a, b) => a.works - b.works);
  if (worst === undefined) return [];
  const room = worst.works - overheadTo(link, worst.peer);
  return [
    found(rule, {
      subject: link.name,
      what: `packets of ${worst.size} bytes, as ${link.name} (${link.kind}, MTU ${link.mtu}) makes them, get lost on the way to ${narrow.length === 1 ? 'a peer' : `${narrow.length} peers`}; ${worst.works} bytes get there`,
      consequence: `Packets of more than ${room} bytes to containers over there are lost, or at best fragmented: connections open, then hang.`,
      remedy: `give ${link.name} and the containers behind it an MTU of ${room}, in the configuration of the CNI that made it; or let the network between the nodes take ${worst.size}`,
      evidence: [
        `tried with echo requests that must not be fragmented, to ${some(narrow.map(({ peer }) => String(peer)))}`,
      ],
    }),
  ];
}
