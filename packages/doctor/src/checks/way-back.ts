/** The way back: whether the node sends what is for a container to where the container is. */
import type { Addr, Prefix } from '@heddle/netaddr';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import { nameOf, type PodView } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { doctorRule } from './check.ts';

/** The node's routes lead elsewhere. */
export const noHostRoute = doctorRule({
  id: 'attachment/no-host-route',
  severity: 'error',
  title: 'The node has no route to a container',
  explains:
    "What the node, other containers and published ports send a container follows the node's routes: a bridge's network, or a route of its own for a container on a point-to-point link. Asked for is what the kernel would choose.",
});

/** Asks the kernel by which link it would send a packet to each address of an attachment. */
export async function wayBack(view: NodeView, pod: PodView): Promise<readonly Finding[]> {
  const { hostLink, inside, attachment } = pod;
  if (hostLink === undefined || inside?.link?.up !== true || !hostLink.up) return [];
  const arrival = view.links.find(({ index }) => index === (hostLink.master ?? hostLink.index));
  // A bridge without an address is a plain switch: the node is no party to it.
  const isParty =
    hostLink.master === undefined ||
    view.addresses.some(({ link, prefix }) => link === arrival?.index && !prefix.addr.isLinkLocal);
  if (arrival === undefined || !arrival.up || !isParty) return [];
  const findings: Finding[] = [];
  for (const { prefix } of inside.addresses) {
    if (prefix.addr.isLinkLocal) continue;
    const own = view.addresses.find((each) => each.prefix.addr.equals(prefix.addr));
    if (own !== undefined) {
      const name = view.links.find(({ index }) => index === own.link)?.name ?? '';
      findings.push(takenByNode(attachment, own.prefix, name));
      continue;
    }
    const { link: chosen, dst } = await chosenRoute(view, prefix.addr);
    if (chosen === arrival.index) continue;
    const name = view.links.find(({ index }) => index === chosen)?.name;
    const isMissing = name === undefined || dst === undefined || dst.bits < prefix.bits;
    findings.push(
      found(noHostRoute, {
        subject: nameOf(attachment),
        what: `the node sends packets for ${prefix.addr} ${name === undefined ? 'nowhere' : `out of ${name}`}, not to ${arrival.name}`,
        consequence:
          'What the node, other containers and answers from outside send the container does not get there.',
        remedy: isMissing
          ? 'put the route back; find out what removes routes'
          : 'take the other route away, or give one of the two networks another subnet',
        commands: [
          isMissing
            ? commandLine('ip', 'route', 'add', towards(pod, prefix), 'dev', arrival.name)
            : commandLine('ip', 'route', 'del', String(dst), 'dev', name),
        ],
        evidence: [`ip route get ${prefix.addr}`],
      }),
    );
  }
  return findings;
}

/** No route is asked for what the node has itself. */
function takenByNode(attachment: PodView['attachment'], prefix: Prefix, link: string): Finding {
  return found(noHostRoute, {
    subject: nameOf(attachment),
    what: `the node itself has ${prefix.addr}, on ${link}`,
    consequence:
      'The node answers what it, other containers and answers from outside send the container, which gets none of it.',
    remedy: 'take the address off the node; find out what put it there',
    commands: [commandLine('ip', 'address', 'del', String(prefix), 'dev', link)],
    evidence: [`ip route get ${prefix.addr}`],
  });
}

/** The whole subnet where it is a bridge's, else the container alone. */
function towards({ hostLink }: PodView, prefix: Prefix): string {
  return String(hostLink?.master === undefined ? prefix.addr : prefix.masked());
}

interface ChosenRoute {
  readonly link?: number | undefined;
  /** What the kernel's own answer leaves out: where the route leads as a whole. */
  readonly dst?: Prefix | undefined;
}

async function chosenRoute({ host, routes }: NodeView, address: Addr): Promise<ChosenRoute> {
  try {
    const { link, type } = await host.routes.lookup(address);
    if (type !== 'unicast' && type !== 'local') return {};
    const [widest] = routes
      .filter((route) => route.dst.contains(address) && (route.link ?? link) === link)
      .toSorted((a, b) => b.dst.bits - a.dst.bits);
    return { link, dst: widest?.dst };
  } catch {
    // The kernel says that there is none: ENETUNREACH, EHOSTUNREACH, EACCES …
    return {};
  }
}
