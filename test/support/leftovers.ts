/** What attachments could leave behind on a node, as text that is equal exactly when nothing changed. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestNetns } from '@heddle/plugins/testing';

/**
 * A full look at a namespace and at directories with state. What changes by itself (counters, ages, handles) and
 * the marks of the last reservation are left out.
 */
export function leftovers(node: TestNetns, directories: readonly string[] = []): string {
  const lines = (...command: [string, ...string[]]) => node.run(...command).split('\n');
  return [
    ...lines('ip', '-o', '-d', 'link').map((line) =>
      line
        .replace(/ (state|qdisc|numtxqueues|numrxqueues) \S+/g, '')
        .replace(/ (hello_timer|tcn_timer|topology_change_timer|gc_timer) +\S+/g, ''),
    ),
    ...lines('ip', '-o', 'address').map((line) => line.replace(/ (valid|preferred)_lft \S+/g, '')),
    ...lines('ip', 'route', 'show', 'table', 'all'),
    ...lines('ip', '-6', 'route', 'show', 'table', 'all'),
    ...lines('ip', 'rule'),
    ...lines('ip', '-6', 'rule'),
    ...lines('ip', 'neighbour').filter((line) => !line.includes('FAILED')),
    ...lines('bridge', 'fdb'),
    ...lines('nft', 'list', 'ruleset').map((line) =>
      line.replace(/counter packets \d+ bytes \d+/, 'counter'),
    ),
    ...lines('tc', 'qdisc').map((line) => line.replace(/ refcnt \d+/, '')),
    ...directories.flatMap(files),
  ]
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
}

function files(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return (readdirSync(directory, { recursive: true }) as string[])
    .filter((name) => !name.includes('last_reserved_ip.'))
    .sort()
    .map((name) => {
      const path = join(directory, name);
      return statSync(path).isDirectory() ? `${path}/` : `${path}: ${readFileSync(path, 'latin1')}`;
    });
}
