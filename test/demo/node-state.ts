/** What pods could leave on the demo's node, as lines. */
import { existsSync, readdirSync } from 'node:fs';
import { inspect } from 'node:util';
import { openSession } from '@heddle/netlink';
import { quietly } from './stage.ts';

/** A look at the node. What changes by itself, and the marks of the last reservation, are left out. */
export async function stateOfNode(): Promise<readonly string[]> {
  return [
    ...lines('ip', '-o', 'link').map((line) =>
      line
        .replace(/ (state|qdisc) \S+/g, '')
        .replace('NO-CARRIER,', '')
        .replace(',LOWER_UP', ''),
    ),
    ...lines('ip', '-o', 'address').filter((line) => !line.includes('fe80:')),
    ...['-4', '-6']
      .flatMap((family) => lines('ip', family, 'route', 'show', 'table', 'all'))
      .filter((line) => !/fe80|ff00/.test(line))
      // When the kernel finds that a bridge has no port any more is its own affair.
      .map((line) => line.replace(' linkdown', '').trimEnd()),
    ...(await elements()),
    ...['/var/lib/cni/networks', '/var/lib/cni/results', '/run/heddle'].flatMap(files),
  ];
}

/** The elements of our nftables sets. They are read over netlink: the demo needs no `nft`. */
async function elements(): Promise<readonly string[]> {
  using session = openSession();
  const table = { family: 'inet', table: 'heddle' } as const;
  const sets = await session.nft.sets(table);
  const found = await Promise.all(sets.map(({ name }) => session.nft.elements({ ...table, set: name })));
  return found.flat().map((element) => inspect(element, { depth: 9, breakLength: Number.POSITIVE_INFINITY }));
}

function lines(...command: readonly string[]): readonly string[] {
  return quietly(...command)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
}

function files(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('last_reserved_ip.'))
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}
