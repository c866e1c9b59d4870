/** What attachments could leave behind on a node, as lines that are equal exactly when nothing changed. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestNetns } from '@heddle/plugins/testing';

/** A directory with state, or only those of its files whose names begin like this. */
export type StateDirectory = string | { readonly directory: string; readonly startsWith: string };

/**
 * A full look at a namespace and at directories with state. What changes by itself (counters, ages, carrier,
 * link-local addresses) and the marks of the last reservation are left out.
 */
export function leftovers(node: TestNetns, directories: readonly StateDirectory[] = []): readonly string[] {
  const lines = (...command: [string, ...string[]]) => node.run(...command).split('\n');
  return [
    ...lines('ip', '-o', '-d', 'link').map((line) =>
      line
        .replace(/ (state|qdisc|numtxqueues|numrxqueues) \S+/g, '')
        .replace(/ (hello|tcn|topology_change|gc|forward_delay|hold|message_age)_timer +\S+/g, ''),
    ),
    ...lines('ip', '-o', 'address').map((line) => line.replace(/ (valid|preferred)_lft \S+/g, '')),
    ...lines('ip', 'route', 'show', 'table', 'all'),
    ...lines('ip', '-6', 'route', 'show', 'table', 'all'),
    ...lines('ip', 'rule'),
    ...lines('ip', '-6', 'rule'),
    ...lines('ip', 'neighbour').filter((line) => !line.includes('FAILED')),
    // Entries of multicast groups come and go with what listens to them.
    ...lines('bridge', 'fdb').filter((line) => !/^(33:33|01:00:5e):/.test(line)),
    ...lines('nft', 'list', 'ruleset').map((line) =>
      line.replace(/counter packets \d+ bytes \d+/, 'counter'),
    ),
    ...lines('tc', 'qdisc').map((line) => line.replace(/ refcnt \d+/, '')),
    ...directories.flatMap(files),
  ]
    .map((line) =>
      line
        .replace(/<NO-CARRIER,/, '<')
        .replace(/,LOWER_UP>/, '>')
        .replace(/ linkdown\b/, '')
        .trimEnd(),
    )
    .filter((line) => line !== '' && !/\bfe80:|multicast ff00::/.test(line));
}

/** Asserts that nothing was left and nothing is missing; shows only what differs. */
export function assertUnchanged(
  before: readonly string[],
  after: readonly string[],
  what = 'the node',
): void {
  const gone = before.filter((line) => !after.includes(line)).map((line) => `- ${line}`);
  const left = after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
  assert.equal([...gone, ...left].join('\n'), '', `${what} is not as it was`);
}

function files(state: StateDirectory): readonly string[] {
  const { directory, startsWith } = typeof state === 'string' ? { directory: state, startsWith: '' } : state;
  if (!existsSync(directory)) return [];
  return (readdirSync(directory, { recursive: true }) as string[])
    .filter((name) => name.startsWith(startsWith) && !name.includes('last_reserved_ip.'))
    .sort()
    .map((name) => {
      const path = join(directory, name);
      return statSync(path).isDirectory() ? `${path}/` : `${path}: ${readFileSync(path, 'latin1')}`;
    });
}
