/** Sizes of packets: what containers send, and what the links on their way take. */
import type { Link } from '@heddle/netlink';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import { nameOf, type PodView } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { count, doctorRule, type NodeCheck, some } from './check.ts';
import { narrowTunnels, OVERHEAD } from './tunnel-peers.ts';
import { whereToWrite } from './where-to-write.ts';

/** Also told by the walk, which tries it. */
export const mtuTooLarge = doctorRule({
  id: 'path/mtu-too-large',
  severity: 'error',
  title: 'Containers send larger packets than their way takes',
  explains:
    "The container's MTU is larger than that of a link on its way which drops what is too large without a word: the other end of its veth pair, another port of its bridge, a tunnel whose MTU leaves no room for its own headers. Connections open and then hang. Beyond the node, and towards the peers of VXLAN and Geneve tunnels (at most sixteen of each), it is tried with packets that must not be fragmented.",
});

const tooSmall = doctorRule({
  id: 'path/mtu-too-small',
  severity: 'note',
  title: 'Containers send smaller packets than they could',
  explains:
    "A container's MTU is more than 100 bytes (the most that usual tunnels take) below that of the link by which the node reaches others. It works, and costs throughput.",
});

/** See the file's comment. */
export const mtuCheck: NodeCheck = {
  rules: [mtuTooLarge, tooSmall],
  async look(view) {
    const narrow = await narrowTunnels(view, mtuTooLarge, (link) => carrierOf(view, link));
    return [...dropped(view), ...tunnels(view), ...narrow, ...needless(view)];
  },
};

function dropped(view: NodeView): readonly Finding[] {
  return view.pods.flatMap(({ attachment, inside, hostLink }): readonly Finding[] => {
    const link = inside?.link;
    if (link === undefined || hostLink === undefined) return [];
    const bridge = view.links.find(({ index }) => index === hostLink.master);
    const narrow = [hostLink, bridge].find((each) => each !== undefined && each.mtu < link.mtu);
    if (narrow === undefined) return [];
    return [
      found(mtuTooLarge, {
        subject: nameOf(attachment),
        what: `${link.name} has MTU ${link.mtu}, and ${narrow.name} on the node ${narrow.mtu}`,
        consequence: `Packets of more than ${narrow.mtu} bytes are dropped without a word: connections open, then hang.`,
        remedy: `give ${narrow.name} an MTU of ${link.mtu}; or write "mtu": ${narrow.mtu} into ${whereToWrite(view, attachment.network)}, and start the container anew`,
        commands: [commandLine('ip', 'link', 'set', narrow.name, 'mtu', link.mtu)],
      }),
    ];
  });
}

function tunnels(view: NodeView): readonly Finding[] {
  return view.links.flatMap((link): readonly Finding[] => {
    const overhead = OVERHEAD[link.kind ?? ''];
    if (overhead === undefined || !link.up) return [];
    const carrier = carrierOf(view, link);
    if (carrier === undefined) return [];
    const room = carrier.mtu - overhead;
    if (link.mtu <= room) return [];
    return [
      found(mtuTooLarge, {
        subject: link.name,
        what: `${link.name} (${link.kind}) has MTU ${link.mtu}, but ${carrier.name} has ${carrier.mtu} and the tunnel's headers take ${overhead}`,
        consequence: `Packets of more than ${room} bytes between nodes are dropped or fragmented.`,
        remedy: `give ${link.name} and the containers behind it an MTU of ${room}, in the configuration of the CNI that made it`,
      }),
    ];
  });
}

function needless(view: NodeView): readonly Finding[] {
  const uplink = uplinkOf(view);
  if (uplink === undefined) return [];
  const small = view.pods.filter(
    ({ inside }) => inside?.link !== undefined && isNeedless(inside.link, uplink),
  );
  const byMtu = Map.groupBy(small, ({ inside }) => inside?.link?.mtu ?? 0);
  return [...byMtu].map(([mtu, pods]: [number, PodView[]]) =>
    found(tooSmall, {
      subject: some([...new Set(pods.map(({ attachment }) => `network ${attachment.network}`))]),
      what: `${count(pods.length, 'container')} ${pods.length === 1 ? 'has' : 'have'} MTU ${mtu}, while ${uplink.name} takes ${uplink.mtu}`,
      consequence: 'More packets than needed, and so less throughput.',
      remedy: `if no tunnel takes its share, write "mtu": ${uplink.mtu}, else that less its headers, into ${[
        ...new Set(pods.map(({ attachment }) => whereToWrite(view, attachment.network))),
      ].join(' and ')}, and start the ${pods.length === 1 ? 'container' : 'containers'} anew`,
      evidence: [some(pods.map(({ attachment }) => nameOf(attachment)))],
    }),
  );
}

function isNeedless(link: Link, uplink: Link): boolean {
  return link.mtu + MOST_OVERHEAD < uplink.mtu;
}

/** IPsec in tunnel mode, IPv6 over VXLAN over IPv6, … */
const MOST_OVERHEAD = 100;

/** The link that a tunnel's packets leave by. */
function carrierOf(view: NodeView, { parent, parentNetnsId }: Link): Link | undefined {
  const named = view.links.find(({ index }) => index === parent && parentNetnsId === undefined);
  return named ?? uplinkOf(view);
}

/** The link of the default route: by which the node reaches others. */
function uplinkOf({ routes, links }: NodeView): Link | undefined {
  const route = routes
    .filter(({ dst, type, table }) => dst.bits === 0 && type === 'unicast' && table === MAIN)
    .toSorted((a, b) => (a.metric ?? 0) - (b.metric ?? 0))
    .find(({ link, nexthops }) => (link ?? nexthops?.[0]?.link) !== undefined);
  const index = route?.link ?? route?.nexthops?.[0]?.link;
  return links.find((link) => link.index === index && link.kind !== 'loopback');
}

/** RT_TABLE_MAIN */
const MAIN = 254;
