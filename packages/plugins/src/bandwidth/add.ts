/**
 * ADD: what goes to the container waits at the host's end of its veth pair, what it sends is led through an ifb
 * device and waits there.
 */
import { ConfigError, type Interface, type Result } from '@heddle/cni';
import { type AddCall, ownerAlias } from '@heddle/cni/plugin';
import { type Link, tcHandle } from '@heddle/netlink';
import { type BandwidthConfig, type Limit, limitsOf } from './config.ts';
import { hostSideOf } from './host-side.ts';
import { findIfb, ifbName } from './ifb.ts';
import { deleteIngress, redirect } from './redirect.ts';
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
  const bucket = tokenBucket(wanted);
  const frame = link.mtu + ETHERNET_HEADER;
  if (wanted.burst / 8n < BigInt(frame)) {
    call.warn(
      `a burst of ${wanted.burst} bits is less than a frame of ${link.name}, ${frame * 8} bits: larger frames are lost`,
    );
  }
  await host.qdiscs.add({ link: link.index, kind: 'tbf', handle: ROOT_HANDLE, ...bucket });
  undo.push(`lift the limit of ${link.name}`, () =>
    host.qdiscs.delete({ link: link.index, handle: ROOT_HANDLE }),
  );
}

async function limitEgress(call: Call, outside: Link, egress: Limit): Promise<Interface> {
  const { host, undo } = call;
  // First, because it fails on a second ADD, before anything of the first one is touched.
  await host.qdiscs.add({ link: outside.index, kind: 'ingress' });
  undo.push(`let packets into ${outside.name}`, () => deleteIngress(host, outside.index));
  const ifb = await addIfb(call, outside.mtu);
  await limit(call, ifb, egress);
  await redirect(host, outside.index, ifb.index);
  return { name: ifb.name, ...(ifb.mac !== undefined && { mac: `${ifb.mac}` }) };
}

async function addIfb({ host, attachment, cniArgs, undo }: Call, mtu: number): Promise<Link> {
  const leftover = await findIfb(host, attachment);
  if (leftover !== undefined) await host.links.delete(leftover.index);
  const name = ifbName(attachment);
  await host.links.add({ name, kind: 'ifb', up: true, mtu, txQueueLength: 0 });
  undo.push(`delete link ${name}`, () => host.links.delete(name));
  await host.links.set(name, { alias: ownerAlias(attachment, cniArgs) });
  return host.links.get(name);
}

/** The handle of our disciplines at the root of a link, as the reference has it. */
const ROOT_HANDLE = tcHandle(1);
const ETHERNET_HEADER = 14;
