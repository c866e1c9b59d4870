/** What the fake kernel and a real one have in common, as tests that can be run against either. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { NetlinkError } from '../../core/netlink-error.ts';
import type { KernelSession } from '../../session/session.ts';

/** Two fresh namespaces. */
export interface Place {
  readonly host: KernelSession;
  readonly pod: KernelSession;
}

/** One thing that both do alike. */
export interface Case {
  readonly name: string;
  /** Kinds of links, or other parts of a kernel, without which it cannot be seen. */
  readonly needs?: readonly string[];
  run(place: Place): Promise<void>;
}

/** Asserts that a request is refused with this errno and, where it is given, with this text of the kernel's. */
export async function refused(request: Promise<unknown>, errno: string, text?: string): Promise<void> {
  await assert.rejects(request, (error) => {
    assert.ok(error instanceof NetlinkError, String(error));
    assert.equal(error.errno, errno, error.message);
    if (text !== undefined) assert.equal(error.extAck?.message, text);
    return true;
  });
}

/** Waits for what the kernel does in its own time: link watch, duplicate address detection. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const end = performance.now() + LIMIT_MS;
  while (performance.now() < end) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(POLL_MS);
  }
  assert.fail(`it did not come about in ${LIMIT_MS} ms`);
}

const POLL_MS = 2;
/** For long, because machines that run tests are busy. */
const LIMIT_MS = 60_000;

/** A veth pair in the host's namespace, `hd0` and `hd1`, both up and with their carrier. */
export async function pair(host: KernelSession): Promise<void> {
  await host.links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
  await host.links.set('hd1', { up: true });
  await until(async () => (await host.links.get('hd0')).operstate === 'up');
}

/** A link between the namespaces, `hd0` on the host and `eth0` in the pod, both up and with their carrier. */
export async function wire(place: Place): Promise<void> {
  const { host, pod } = place;
  await host.links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'eth0', netns: pod.handle } });
  await pod.links.set('eth0', { up: true });
  await until(async () => (await pod.links.get('eth0')).operstate === 'up');
}
