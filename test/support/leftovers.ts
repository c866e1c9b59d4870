/** What attachments could leave behind on a node, as lines that are equal exactly when nothing changed. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestNetns } from '@heddle/plugins/testing';
import { runInNetns } from '@heddle/sys';

/** A directory with state, or only those of its files whose names begin like this. */
export type StateDirectory = string | { readonly directory: string; readonly startsWith: string };

/**
 * A full look at a namespace and at directories with state. What changes by itself (counters, ages, carrier,
 * link-local addresses) and the marks of the last reservation are left out.
 */
export function leftovers(node: TestNetns, directories: readonly StateDirectory[] = []): readonly string[] {
  const lines = (...command: [string, ...string[]]) => node.run(...command).split('\n');
  const qdiscs = lines('tc', 'qdisc');
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
    ...qdiscs.map((line) => line.replace(/ refcnt \d+/, '')),
    ...shaped(qdiscs).flatMap((link) => [
      ...lines('tc', 'class', 'show', 'dev', link),
      ...lines('tc', 'filter', 'show', 'dev', link),
    ]),
    ...kernelParameters(node),
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

/** The links that have a discipline which may have classes or filters. */
function shaped(qdiscs: readonly string[]): readonly string[] {
  return qdiscs.flatMap((line) => /^qdisc (?!noqueue).* dev (\S+)/.exec(line)?.[1] ?? []);
}

/** All below `/proc/sys/net` that can be read and does not count something. */
function kernelParameters(node: TestNetns): readonly string[] {
  return runInNetns(node.handle, () =>
    (readdirSync(PARAMETERS, { recursive: true }) as string[])
      .filter((name) => !/(_count|\/flush|_expect_max)$/.test(name))
      .sort()
      .flatMap((name) => {
        try {
          return [`${name} = ${readFileSync(join(PARAMETERS, name), 'utf8').trim()}`];
        } catch {
          // A directory, or one that is only written, or whose value nobody set.
          return [];
        }
      }),
  );
}

const PARAMETERS = '/proc/sys/net';

function files(state: StateDirectory): readonly string[] {
  const { directory, startsWith } = typeof state === 'string' ? { directory: state, startsWith: '' } : state;
  if (!existsSync(directory)) return [];
  return (readdirSync(directory, { recursive: true }) as string[])
    .filter((name) => name.startsWith(startsWith) && !name.includes('last_reserved_ip.'))
    .sort()
    .map((name) => {
      const path = join(directory, name);
      if (statSync(path).isFile()) return `${path}: ${readFileSync(path, 'latin1')}`;
      return `${path}/`;
    });
}
