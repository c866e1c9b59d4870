/** The host's end of the attachment as a port of the bridge: its flags and its VLANs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CNI_CODE, CniError } from '@heddle/cni';
import type { Address, Change, KernelSession, Link } from '@heddle/netlink';
import { type BridgeConfig, type PortVlans, portVlans } from './config.ts';

/**
 * Gives a port its flags, its owner's alias and its VLANs, in one go. Flags that are off are written too: a
 * bridge may hand out others by default.
 */
export async function setUpPort(
  host: KernelSession,
  port: Link,
  alias: string,
  config: BridgeConfig,
): Promise<void> {
  await host.batch([
    host.links.plan.set(port.index, { alias }),
    host.bridge.plan.setPort(port.index, { hairpin: config.hairpinMode, isolated: config.portIsolation }),
    ...(await planVlans(host, port.index, portVlans(config), config.preserveDefaultVlan)),
  ]);
}

/**
 * The changes that put a port into its VLANs. The bridge's default VLAN, which every new port is in, is taken
 * away unless it is to stay; else containers of different VLANs would still meet in it.
 */
export async function planVlans(
  host: KernelSession,
  port: number,
  { untagged, tagged }: PortVlans,
  keepDefault: boolean,
): Promise<readonly Change[]> {
  if (untagged === 0 && tagged.length === 0) return [];
  const { bridge } = host;
  const present = keepDefault ? [] : await bridge.vlans(port);
  return [
    ...present.map(({ id }) => bridge.plan.deleteVlan(port, { id })),
    bridge.plan.addVlan(port, { id: untagged, pvid: true, untagged: true }),
    ...runsOf(tagged.filter((id) => id !== untagged)).map((run) => bridge.plan.addVlan(port, run)),
  ];
}

/** A port and its bridge at one moment. */
export interface PortLook {
  readonly port: Link;
  readonly bridge: Link;
  /** The bridge's; `undefined` when they changed while they were listed. */
  readonly addresses: readonly Address[] | undefined;
}

/** Looks at a port and its bridge. */
export async function lookAt(host: KernelSession, port: number, bridge: number): Promise<PortLook> {
  const { links, addresses } = host;
  const seen = await host.together([links.ask.get(port), links.ask.get(bridge), addresses.ask.list(bridge)]);
  return { port: seen[0], bridge: seen[1], addresses: seen[2] };
}

/** False while the bridge's spanning tree holds the port back, which takes half a minute. */
export function isForwarding({ port }: Link): boolean {
  return port?.state === 'forwarding';
}

/**
 * Waits until frames from the port reach the bridge, or the spanning tree holds them back. The kernel notices a carrier
 * in a work queue of its own, mostly within a fraction of a millisecond; only then does the bridge let the port
 * forward, and only then is a bridge that had no port before ready itself.
 *
 * @param seen how they are, as far as is known
 * @throws {CniError} code 11 naming the state, when it takes longer than the reference waits
 */
export async function awaitForwarding(host: KernelSession, seen: PortLook): Promise<PortLook> {
  let now = seen;
  for (let waited = 0; !isThrough(now); waited++) {
    if (waited >= LIMIT_MS) {
      const { name, operstate, port } = now.port;
      throw new CniError(
        CNI_CODE.TRY_AGAIN,
        `link ${name} did not come up within ${LIMIT_MS} ms: its state is ${operstate}, as a port ${port?.state ?? 'disabled'}`,
      );
    }
    await sleep(1);
    now = await lookAt(host, seen.port.index, seen.bridge.index);
  }
  return now;
}

/** Whether port and bridge are through with the carrier's coming up. */
function isThrough({ port, bridge }: PortLook): boolean {
  if (port.operstate !== 'up' || (port.port?.state ?? 'disabled') === 'disabled') return false;
  return !isForwarding(port) || bridge.operstate === 'up';
}

/** Ascending numbers as runs without gaps: a trunk of thousands of VLANs is a message or two. */
function runsOf(ids: readonly number[]): readonly { readonly id: number; readonly lastId: number }[] {
  const runs: { id: number; lastId: number }[] = [];
  for (const id of ids) {
    const run = runs.at(-1);
    if (run !== undefined && run.lastId === id - 1) run.lastId = id;
    else runs.push({ id, lastId: id });
  }
  return runs;
}

const LIMIT_MS = 2550;
