/** DEL: limits and ifb device go, also those that the reference's plugin made; the veth pair is the main plugin's. */
import type { DelCall } from '@heddle/cni/plugin';
import { type Link, tcHandle } from '@heddle/netlink';
import type { BandwidthConfig } from './config.ts';
import { findPeer } from './host-side.ts';
import { findIfb, findReferenceIfb } from './ifb.ts';
import { deleteIngress, isRedirected, redirections } from './redirect.ts';

type Call = DelCall<BandwidthConfig>;

/** See the file's comment. Neither the limits nor the result are needed. */
export async function del(call: Call): Promise<void> {
  const { host, attachment, teardown } = call;
  const outside = await teardown.step("find the host's end", () => hostSide(call));
  const ifbs = await teardown.step('find the ifb device', async () => {
    const own = await findIfb(host, attachment);
    const theirs = await findReferenceIfb(host, attachment);
    // The reference's name says the container, not the interface: another one may use the device.
    const isUsed =
      theirs !== undefined &&
      outside !== undefined &&
      !(await isRedirected(host, outside.index, theirs.index));
    return [own, isUsed ? undefined : theirs].filter((each) => each !== undefined);
  });
  if (outside !== undefined) await lift(call, outside, ifbs ?? []);
  for (const { name, index } of ifbs ?? []) {
    await teardown.step(`delete link ${name}`, () => host.links.delete(index));
  }
}

async function hostSide({ host, container, ifName }: Call): Promise<Link | undefined> {
  const inside = await container?.links.find(ifName);
  return inside === undefined ? undefined : findPeer(host, inside);
}

/** Once its device is gone, a redirection loses everything that the container sends. */
async function lift({ host, teardown }: Call, outside: Link, ifbs: readonly Link[]): Promise<void> {
  const qdiscs = await teardown.step(`read the disciplines of ${outside.name}`, () =>
    host.qdiscs.list({ link: outside.index }),
  );
  if (qdiscs?.some(({ kind }) => kind === 'ingress')) {
    await teardown.step(`let packets into ${outside.name}`, async () => {
      const targets = await redirections(host, outside.index);
      // An ADD that was killed has left it without a filter.
      const isOurs = targets.length === 0 || ifbs.some(({ index }) => targets.includes(index));
      if (isOurs) await deleteIngress(host, outside.index);
    });
  }
  await teardown.step(`lift the limit of ${outside.name}`, async () => {
    const root = qdiscs?.find(({ handle }) => handle === tcHandle(1));
    if (root?.kind === 'tbf') await host.qdiscs.delete({ link: outside.index, handle: tcHandle(1) });
  });
}
