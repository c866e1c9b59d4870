/**
 * ADD: what goes to the container waits at the host's end of its veth pair, what it sends is led through an ifb
 * device and waits there.
 */
import { ConfigError, type Interface, type Result } from '@heddle/cni';
import { type AddCall, ownerAlias } from '@heddle/cni/plugin';
import { type Link, NetlinkError, type QdiscSpec, tcHandle } from '@heddle/netlink';
import { type BandwidthConfig, type Limit, limitsOf } from './config.ts';
import { hostSideOf } from './host-side.ts';
import { findIfb, ifbName } from './ifb.ts';
import { deleteIngress, redirection } from './redirect.ts';
import { tokenBucket } from './token-bucket.ts';

type Call = AddCall<BandwidthConfig>;

/** See the file's comment. Passes the result on, with the ifb device if there is one. */
export async function add(call: Call): Promise<Result> {
  const { config, prevResult } = call;
  const { ingress, egress } = limitsOf(config);
  if (prevResult === undefined) {
    throw new ConfigError('must be called as chained plugin', { pointer: '/prevResult' });
  }
  if (ingress === undefined && egress === undefined) return prevResult;
  const outside = await hostSideOf(call, prevResult);
  if (ingress !== undefined) await limit(call, outside, ingress);
  if (egress === undefined) return prevResult;
  const ifb = await limitEgress(call, outside, egress);
  return { ...prevResult, interfaces: [...(prevResult.interfaces ?? []), ifb] };
}

async function limit(call: Call, link: Link, wanted: Limit): Promise<void> {
  const { host, undo } = call;
  await host.qdiscs.add(disciplineOf(call, link, wanted));
  undo.push(`lift the limit of ${link.name}`, () =>
    host.qdiscs.delete({ link: link.index, handle: ROOT_HANDLE }),
  );
}

function disciplineOf(call: Call, link: Link, wanted: Limit): QdiscSpec {
  const bucket = tokenBucket(wanted);
  const frame = link.mtu + ETHERNET_HEADER;
  if (wanted.burst / 8n < BigInt(frame)) {
    call.warn(
      `a burst of ${wanted.burst} bits is less than a frame of ${link.name}, ${frame * 8} bits: larger frames are lost`,
    );
  }
  return { link: link.index, kind: 'tbf', handle: ROOT_HANDLE, ...bucket };
}

async function limitEgress(call: Call, outside: Link, egress: Limit): Promise<Interface> {
  const { host, attachment, cniArgs, undo } = call;
  // First, because it fails on a second ADD, before anything of the first one is touched.
  await host.qdiscs.add({ link: outside.index, kind: 'ingress' });
  undo.push(`let packets into ${outside.name}`, () => deleteIngress(host, outside.index));
  const ifb = await addIfb(call, outside.mtu);
  // The limit while it is down: the queues of a link that is up are stopped first, which takes a grace period of RCU.
  await host.batch([
    host.qdiscs.plan.add(disciplineOf(call, ifb, egress)),
    host.links.plan.set(ifb.index, { alias: ownerAlias(attachment, cniArgs), up: true }),
    redirection(host, outside.index, ifb.index),
  ]);
  return { name: ifb.name, ...(ifb.mac !== undefined && { mac: `${ifb.mac}` }) };
}

async function addIfb({ host, attachment, undo }: Call, mtu: number): Promise<Link> {
  const name = ifbName(attachment);
  const make = () => host.links.make({ name, kind: 'ifb', mtu, txQueueLength: 0 });
  const ifb = await make().catch(async (error: unknown) => {
    const leftover = NetlinkError.is(error, 'EEXIST') ? await findIfb(host, attachment) : undefined;
    if (leftover === undefined) throw error;
    await host.links.delete(leftover.index);
    return await make();
  });
  undo.push(`delete link ${name}`, () => host.links.delete(name));
  return ifb;
}

/** The handle of our disciplines at the root of a link, as the reference has it. */
const ROOT_HANDLE = tcHandle(1);
const ETHERNET_HEADER = 14;
