import { must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import type { Lab } from '../lab/lab.ts';
import { differences, missingFrom, type Snapshot, snapshotOf } from '../lab/snapshot.ts';

/** @throws {CheckFailure} when the node is not as it was */
export async function nodeUnchanged(lab: Lab, before: Snapshot, after = 'that'): Promise<void> {
  same(before, await lab.snapshot(), `a node as it was before ${after}`);
}

/** @throws {CheckFailure} when a container is not as it was */
export async function containerUnchanged(
  { namespace }: Container,
  before: Snapshot,
  after = 'that',
): Promise<void> {
  same(before, await snapshotOf(namespace), `a container as it was before ${after}`);
}

/**
 * A container that is about to be attached and detached. Loopback is the runtime's, and who sets it up does it once: the kernel
 * gives it 127.0.0.1 then, and leaves it to it. So this is done first.
 */
export async function settled(container: Container): Promise<Snapshot> {
  const { links } = container.namespace.session;
  await links.set('lo', { up: true });
  if (container.ifName === 'lo') await links.set('lo', { up: false });
  return await withoutCommonIpv6(container);
}

/** A container, but for what whoever brings IPv6 up for an interface may leave on for loopback and those to come. */
export async function withoutCommonIpv6({ namespace }: Container): Promise<Snapshot> {
  const lines = await snapshotOf(namespace);
  return lines.filter((line) => !/^setting ipv6\/conf\/(lo|default|all)\//.test(line));
}

/** @throws {CheckFailure} when something has gone from the node; more there may be, such as a lock */
export async function nothingLost(lab: Lab, before: Snapshot, after = 'that'): Promise<void> {
  const left = missingFrom(await lab.snapshot(), before);
  same(
    [],
    left.map((line) => `lost: ${line}`),
    `all that was on the node before ${after}`,
  );
}

/** @throws {CheckFailure} when two snapshots differ, which it shows */
export function same(before: Snapshot, after: Snapshot, expected: string): void {
  const found = differences(before, after);
  const lines = found.map((line) => (line.length > 240 ? `${line.slice(0, 240)}…` : line));
  const shown = found.length > 20 ? [...lines.slice(0, 20), `… and ${found.length - 20} more`] : lines;
  must(found.length === 0, expected, () => shown.join('\n'));
}
