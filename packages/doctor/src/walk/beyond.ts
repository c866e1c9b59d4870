/** The part of a walk that leaves the node: which hook or decision of the node a probe does not come through. */
import type { Addr } from '@heddle/netaddr';
import { IPS, type NftTrace } from '@heddle/netlink';
import { whereToWrite } from '../checks/where-to-write.ts';
import { commandLine } from '../command-line.ts';
import { nameOf } from '../node/pods.ts';
import { EchoProbe, type EchoResult } from '../probe/echo.ts';
import { type Milestone, milestoneOf, type Tracing, traceEchoes } from '../probe/trace.ts';
import { found, type Rule } from '../rule.ts';
import { acceptedBy, blame } from './blame.ts';
import { isWithoutTracing, type Step, TRIES, WAIT, type WalkContext } from './context.ts';
import {
  firewallDrops,
  lostBeyond,
  lostInRouting,
  lostOnLink,
  lostReturning,
  notMasqueraded,
} from './rules.ts';

/** Sends a probe to somebody beyond the node. Whether it was answered. */
export async function beyondNode(context: WalkContext, target: Addr): Promise<boolean> {
  const { probe, steps } = context;
  const tracing = await begin(context, target);
  let result: EchoResult;
  let seen: readonly NftTrace[];
  try {
    result = await probe.askUntil({ target, wait: WAIT }, TRIES);
    // The last steps may be under way.
    await context.view.ports.sleep(SETTLE);
    seen = [...(tracing?.steps ?? [])];
  } finally {
    await tracing?.[Symbol.asyncDispose]();
  }
  if (result.kind === 'reply') {
    steps.push({ hop: 'beyond', ok: true, what: `${target} answers` });
    return true;
  }
  await explain(context, { target, result, seen, isTraced: tracing !== undefined });
  return false;
}

const SETTLE = 50;

/** What is known of a probe that was not answered. */
interface Lost {
  readonly target: Addr;
  readonly result: EchoResult;
  readonly seen: readonly NftTrace[];
  /** Whether anything could have been seen. */
  readonly isTraced: boolean;
}

/** Only what the node routes can be followed there. */
async function begin({ view, pod, from }: WalkContext, to: Addr): Promise<Tracing | undefined> {
  if (pod.hostLink === undefined) return undefined;
  try {
    return await traceEchoes(view.host, { from, to });
  } catch (error) {
    if (isWithoutTracing(error)) return undefined;
    throw error;
  }
}

async function explain(context: WalkContext, lost: Lost): Promise<void> {
  const { seen, isTraced, target, result } = lost;
  const drop = seen.find(({ verdict }) => verdict === 'drop');
  if (drop !== undefined) return dropped(context, drop, lost);
  if (result.kind === 'error') {
    const { from } = result;
    const isNode =
      from !== undefined && context.view.addresses.some(({ prefix }) => prefix.addr.equals(from));
    if (isNode && (await isWithoutRoute(context, target))) return;
    return tell(context, lostInRouting, 'route', {
      what: `a packet to ${target} is refused${from === undefined ? '' : ` by ${isNode ? 'this node, ' : ''}${from}`}: ${result.reason}`,
      remedy: `see the routes and filters of ${isNode ? 'this node' : (from ?? 'the node')}`,
    });
  }
  if (result.kind === 'unsent') {
    return tell(context, lostInRouting, 'route', {
      what: `the container cannot send to ${target}: ${result.errno}`,
      remedy: 'see the routes of the container',
    });
  }
  if (isTraced) {
    const came = new Set(seen.map(milestoneOf));
    if (!came.has('mark')) return notArrived(context, target);
    if (!came.has('forwarded')) return notForwarded(context, target, came);
  }
  await leftNode(context, lost);
}

async function dropped(context: WalkContext, step: NftTrace, { target, result }: Lost): Promise<void> {
  const { view } = context;
  const link = linkName(context);
  const { who, where, remedy, commands } = await blame(view.host, step, link);
  tell(context, firewallDrops, 'filter', {
    what: `${who} drops packets of the container to ${target}`,
    ...{ remedy, commands },
    evidence: [
      `dropped in ${where}`,
      ...(result.kind === 'error' ? [`the container is told: ${result.reason}`] : []),
    ],
  });
}

function notArrived(context: WalkContext, target: Addr): void {
  tell(context, lostOnLink, 'link', {
    what: `what the container sends to ${target} does not arrive at the node's IP`,
    remedy: `see what filters ${linkName(context)}: tc filters, rules of the family bridge, eBPF programs`,
  });
}

/** The kernel says why it would not pass a packet on; if it would, somebody unseen has dropped it. */
async function notForwarded(
  context: WalkContext,
  target: Addr,
  came: ReadonlySet<Milestone | undefined>,
): Promise<void> {
  const { view, from } = context;
  const switchName = from.family === 4 ? 'net/ipv4/ip_forward' : 'net/ipv6/conf/all/forwarding';
  if (came.has('arrived') && (await view.sysctl(switchName)) === '0') {
    return tell(context, lostInRouting, 'route', {
      what: `the node does not forward: ${switchName.replaceAll('/', '.')} is 0`,
      remedy: 'switch it on, and write the same into a file of /etc/sysctl.d, so that it stays',
      commands: [commandLine('sysctl', '-w', `${switchName.replaceAll('/', '.')}=1`)],
    });
  }
  if (await isWithoutRoute(context, target)) return;
  const names = legacyTables(context);
  if (names.length > 0) {
    return tell(context, firewallDrops, 'filter', {
      what: `legacy iptables (${names.join(', ')}) drops packets of the container to ${target}`,
      remedy: "accept what comes from and goes to the containers' link; better, keep to one kind of iptables",
      commands: acceptedBy(`ip${from.family === 6 ? '6' : ''}tables-legacy`, 'FORWARD', linkName(context)),
      evidence: [
        'the packet arrives, there is a route, and no rule of nftables drops it',
        'iptables-legacy -L FORWARD -v -n',
      ],
    });
  }
  tell(context, lostInRouting, 'route', {
    what: `a packet to ${target} arrives at the node and is not passed on`,
    remedy: `see \`nstat -az\` for what counts up, and eBPF programs on ${linkName(context)}`,
  });
}

/** Asks the kernel for the route of a packet of the container; tells when there is none. */
async function isWithoutRoute(context: WalkContext, target: Addr): Promise<boolean> {
  const { view, pod, from } = context;
  const arrival = pod.hostLink?.master ?? pod.hostLink?.index;
  try {
    await view.host.routes.lookup(target, { from, ...(arrival !== undefined && { iif: arrival }) });
    return false;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    tell(context, lostInRouting, 'route', {
      what: `the node does not pass a packet from ${from} to ${target} on`,
      remedy: /EXDEV|EINVAL/.test(said)
        ? `the reverse path filter refuses it: correct the route to ${from}, or set rp_filter of ${linkName(context)} to 2`
        : `add a route to ${target} to this node`,
      evidence: [`the kernel, asked for the route: ${said}`],
    });
    return true;
  }
}

function legacyTables({ view, from }: WalkContext): readonly string[] {
  try {
    const text = view.host.procNet.read(from.family === 4 ? 'ip_tables_names' : 'ip6_tables_names');
    return text.split('\n').filter((name) => name !== '');
  } catch {
    return [];
  }
}

async function leftNode(context: WalkContext, { target }: Lost): Promise<void> {
  const { view, from } = context;
  const flows = await view.host.conntrack
    .list({ family: from.family, original: { src: from, dst: target } })
    .catch(() => []);
  // Flows of earlier probes, by another id, are remembered for a while, and may have been answered.
  const flow = flows.find(
    ({ protocol, original }) =>
      protocol === (from.family === 4 ? 1 : 58) && original.icmp?.id === context.probe.id,
  );
  if (flow !== undefined && (flow.status & IPS.SEEN_REPLY) !== 0) {
    return tell(context, lostReturning, 'beyond', {
      what: `${target} answers, and the answer does not get from the node to the container`,
      remedy: `see the node's route to ${from} and what filters ${linkName(context)}`,
      evidence: ['connection tracking has seen the reply'],
    });
  }
  using own = new EchoProbe(view.host.handle, from.family, context.probe.id ^ 1);
  const control = await own.askUntil({ target, wait: WAIT }, TRIES);
  if (control.kind !== 'reply') {
    context.steps.push({
      hop: 'beyond',
      ok: true,
      what: `${target} answers neither the container nor the node: nothing more can be said`,
    });
    return;
  }
  const isTranslated = flow !== undefined && !flow.reply.dst.equals(from);
  if (!isTranslated) {
    return tell(context, notMasqueraded, 'translation', {
      what: `packets to ${target} leave the node with the container's own address ${from}, and are not answered; the node's own are`,
      remedy: `write "ipMasq": true into ${whereToWrite(context.view, context.pod.attachment.network)}, and start the container anew; or give ${target} a route to ${from}`,
    });
  }
  tell(context, lostBeyond, 'beyond', {
    what: `${target} does not answer the container, translated to ${flow.reply.dst}; it answers the node`,
    remedy: `see what filters packets from ${flow.reply.dst} on the way`,
  });
}

interface Told {
  readonly what: string;
  readonly remedy: string;
  readonly commands?: readonly string[];
  readonly evidence?: readonly string[];
}

function tell({ steps, findings, pod }: WalkContext, rule: Rule, hop: Step['hop'], told: Told): void {
  steps.push({ hop, ok: false, what: told.what });
  findings.push(
    found(rule, {
      ...told,
      subject: nameOf(pod.attachment),
      consequence: 'The container does not reach what is beyond the node.',
    }),
  );
}

/** The link by which the container's packets come in. */
function linkName({ view, pod }: WalkContext): string {
  const index = pod.hostLink?.master ?? pod.hostLink?.index;
  return view.links.find((link) => link.index === index)?.name ?? 'the link of the container';
}
