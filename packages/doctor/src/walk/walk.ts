/**
 * Walking the way of a container's packets, hop by hop: namespace, link, node, route, filter, translation, and beyond. A
 * few echo requests are sent and followed; where one is lost, the hop and the reason are told.
 */
import type { Addr } from '@heddle/netaddr';
import type { Route } from '@heddle/netlink';
import { mtuTooLarge } from '../checks/mtu.ts';
import { whereToWrite } from '../checks/where-to-write.ts';
import { nameOf, openInside, type PodInside, type PodView } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { EchoProbe } from '../probe/echo.ts';
import { pathMtu } from '../probe/path-mtu.ts';
import { found } from '../rule.ts';
import { beyondNode } from './beyond.ts';
import { TRIES, WAIT, type Walk, type WalkContext, type WalkOptions } from './context.ts';
import { gatewayBack } from './gateway-back.ts';
import { lostOnLink } from './rules.ts';

/** Walks from one attachment, in each family that it has an address of. */
export async function walkFrom(
  view: NodeView,
  pod: PodView,
  options: WalkOptions = {},
): Promise<readonly Walk[]> {
  const { inside } = pod;
  // Raw sockets in other namespaces are root's.
  if (inside?.link?.up !== true || view.ports.machine.uid !== 0) return [];
  using session = openInside(inside);
  if (session === undefined) return [];
  const walks: Walk[] = [];
  for (const family of [4, 6] as const) {
    const from = inside.addresses.find(
      ({ prefix, tentative, dadFailed }) =>
        prefix.family === family && !prefix.addr.isLinkLocal && !tentative && !dadFailed,
    )?.prefix.addr;
    if (from === undefined) continue;
    using probe = new EchoProbe(session.handle, family, randomId(view));
    const context: WalkContext = { view, pod, inside, session, probe, from, steps: [], findings: [] };
    const target =
      (options.targets ?? []).find((each) => each.family === family) ?? uplinkGateway(view, family);
    await walk(context, target);
    const { steps, findings } = context;
    walks.push({
      attachment: nameOf(pod.attachment),
      family,
      target: target === undefined ? null : String(target),
      steps,
      findings,
    });
  }
  return walks;
}

async function walk(context: WalkContext, target: Addr | undefined): Promise<void> {
  const { steps, inside, from } = context;
  steps.push({ hop: 'namespace', ok: true, what: `${inside.link?.name} has ${from}` });
  if (!(await toGateway(context)) || target === undefined) return;
  if (await beyondNode(context, target)) await alongPath(context, target);
}

/** To the container's own gateway. Whether to go on. */
async function toGateway(context: WalkContext): Promise<boolean> {
  const { inside, session, probe, steps, findings, pod, from } = context;
  const route = defaultRoute(inside, from.family);
  if (route === undefined) {
    steps.push({
      hop: 'gateway',
      ok: true,
      what: 'there is no default route: nothing beyond its own network is meant to be reached',
    });
    return false;
  }
  const gateway = route.gateway;
  // A route by the link alone: there is nobody to ask first.
  if (gateway === undefined) return true;
  const result = await probe.askUntil({ target: gateway, link: inside.link?.index, wait: WAIT }, TRIES);
  if (result.kind === 'reply') {
    steps.push({ hop: 'gateway', ok: true, what: `${gateway} answers` });
    return true;
  }
  const neighbours = await session.neighbours.list();
  const entry = neighbours.find(({ address }) => address.equals(gateway));
  if (entry?.mac !== undefined && (entry.state & NUD_FAILED) === 0) {
    steps.push({
      hop: 'gateway',
      ok: true,
      what: `${gateway} is there (${entry.mac}), and does not answer echo requests`,
    });
    return true;
  }
  const what =
    result.kind === 'unsent'
      ? `the container cannot send to its gateway ${gateway}: ${result.errno}`
      : `nobody answers for the gateway ${gateway}`;
  steps.push({ hop: 'gateway', ok: false, what });
  findings.push(
    found(lostOnLink, {
      ...{ subject: nameOf(pod.attachment), what },
      consequence: 'The container reaches nothing beyond its own network.',
      ...gatewayBack(context, gateway),
      evidence: [
        pod.hostLink === undefined
          ? `asked from ${from}`
          : `asked from ${from}, behind ${pod.hostLink.name} of the node`,
      ],
    }),
  );
  return false;
}

/** With packets as large as the container sends them. */
async function alongPath(
  { view, probe, inside, pod, steps, findings }: WalkContext,
  target: Addr,
): Promise<void> {
  const size = inside.link?.mtu ?? 0;
  const path = await pathMtu(probe, { target, size });
  if (path.kind === 'unanswered') return;
  if (path.kind === 'fits') {
    steps.push({ hop: 'path size', ok: true, what: `packets of ${size} bytes get to ${target}` });
    return;
  }
  const lost = path.silent
    ? 'are lost without a word'
    : `are refused${path.told === undefined ? '' : `: ${path.told} is told`}`;
  const what = `packets of ${size} bytes to ${target} ${lost}; ${path.works} bytes get there`;
  // Where it is told, connections adapt.
  steps.push({ hop: 'path size', ok: !path.silent, what });
  if (!path.silent) return;
  findings.push(
    found(mtuTooLarge, {
      ...{ subject: nameOf(pod.attachment), what },
      consequence: 'Connections open, and hang when the first full packet is sent.',
      remedy: `write "mtu": ${path.works} into ${whereToWrite(view, pod.attachment.network)}, and start its containers anew; or let the way take ${size}`,
      evidence: ['tried with echo requests that must not be fragmented'],
    }),
  );
}

/** The default route of a namespace. */
function defaultRoute({ routes }: PodInside, family: 4 | 6): Route | undefined {
  return routes.find((route) => route.family === family && route.dst.bits === 0 && route.type === 'unicast');
}

/** The router that the node itself uses. */
function uplinkGateway({ routes }: NodeView, family: 4 | 6): Addr | undefined {
  const gateway = routes.find(
    (route) =>
      route.family === family && route.dst.bits === 0 && route.type === 'unicast' && route.table === MAIN,
  )?.gateway;
  return gateway?.isLinkLocal === true ? undefined : gateway;
}

function randomId({ ports }: NodeView): number {
  const [high = 0, low = 0] = ports.randomBytes(2);
  return high * 256 + low;
}

/** linux/neighbour.h: NUD_INCOMPLETE, NUD_FAILED */
const NUD_FAILED = 0x21;
/** RT_TABLE_MAIN */
const MAIN = 254;
