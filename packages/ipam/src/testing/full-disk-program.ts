/** What happens on a disk without room: run with the path of a small, empty file system; prints what it saw. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Prefix } from '@heddle/netaddr';
import { allocate } from '../allocate.ts';
import { fileStore } from '../file-store.ts';
import { resolveRangeSets } from '../range-set.ts';

const PAGE = 4096;
const root = process.argv[2] ?? '';
const directory = join(root, 'n1');
const warnings: string[] = [];
const store = fileStore({ directory, warn: (message) => warnings.push(message) });
const v4 = [{ subnet: Prefix.parse('192.0.2.0/24') }];
const v6 = [{ subnet: Prefix.parse('2001:db8::/64') }];

await store.exclusive(() => {});
const pages = fill();
const failures = [];
for (let i = 0; i < 50; i++) failures.push(await add(`c${i}`, [v4]));
const afterFailures = readdirSync(directory);

free(pages, 1);
const dual = await add('dual', [v4, v6]);
const afterDual = readdirSync(directory);
const single = await add('single', [v4]);
const afterSingle = readdirSync(directory).sort();

free(pages, 4);
const last = await add('last', [v4, v6]);
console.log(
  JSON.stringify({ failures, afterFailures, dual, afterDual, single, afterSingle, last, warnings }),
);

async function add(containerID: string, sets: Parameters<typeof resolveRangeSets>[0]): Promise<string> {
  try {
    const owner = { containerID, ifName: 'eth0' };
    const given = await allocate(store, { rangeSets: resolveRangeSets(sets), owner });
    return given.map(({ address }) => address.toString()).join();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Fills the file system, a page per file. */
function fill(): string[] {
  const paths: string[] = [];
  try {
    for (;;) {
      const path = join(root, `page${paths.length}`);
      writeFileSync(path, Buffer.alloc(PAGE));
      paths.push(path);
    }
  } catch {
    rmSync(join(root, `page${paths.length}`), { force: true });
    return paths;
  }
}

function free(paths: string[], count: number): void {
  for (const path of paths.splice(0, count)) rmSync(path);
}
