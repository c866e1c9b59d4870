/** How long a plugin takes to answer VERSION: start, one line, end. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { TestNetns } from '@heddle/plugins/testing';
import { installClient } from '../test/support/plugin-directory.ts';
import { Driver } from './driver.ts';
import { printTable } from './table.ts';

/** Measures ours, the references, and the same program on Node from its sources. */
export async function startup(
  heddle: string,
  references: readonly { name: string; directory: string }[],
  rounds: number,
): Promise<void> {
  using node = new TestNetns();
  using driver = new Driver(node.handle);
  const directory = mkdtempSync(join(tmpdir(), 'heddle-bench-bin-'));
  symlinkSync(heddle, join(directory, 'bridge'));
  const client = installClient(join(directory, 'client'));
  const main = resolve('packages/standalone/src/main.ts');
  writeFileSync(
    join(directory, 'on-node'),
    `#!/bin/sh\nexec -a bridge ${process.execPath} --conditions=source --no-warnings ${main}\n`.replace(
      '/bin/sh',
      '/bin/bash',
    ),
    { mode: 0o755 },
  );
  const contenders = [
    { name: 'heddle: client', program: join(client, 'bridge') },
    { name: 'heddle: program', program: join(directory, 'bridge') },
    ...references.map(({ name, directory: bin }) => ({ name, program: join(bin, 'bridge') })),
    { name: 'heddle on Node, from source', program: join(directory, 'on-node') },
  ].map((contender) => ({ ...contender, milliseconds: [] as number[] }));
  const env = { CNI_COMMAND: 'VERSION', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  for (let round = 0; round < rounds; round++) {
    for (const { name, program, milliseconds } of contenders) {
      const timing = await driver.run({ program, env, stdin: '{"cniVersion":"1.0.0"}' });
      if (timing.status !== 0)
        throw new Error(`${name}: VERSION ended with ${timing.status}: ${timing.stdout}`);
      milliseconds.push(timing.milliseconds);
    }
  }
  rmSync(directory, { recursive: true });
  const [ours, ...others] = contenders;
  if (ours !== undefined) printTable('VERSION: start, answer, end', ours, others);
}
