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
