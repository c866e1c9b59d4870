/** Whose plugins `make bench` measures. */
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Contender, Site } from '@heddle/bench';
import { PLUGINS } from '@heddle/plugins';
import { buildCommand } from '../scripts/build-command.ts';
import { buildDriver } from '../scripts/build-driver.ts';
import { buildStandalone } from '../scripts/build-standalone.ts';
import { installClient } from '../test/support/plugin-directory.ts';

/** Plugins in a directory, by a name. */
export type Lane = Pick<Contender, 'name' | 'directory'>;

/** All that are measured. */
export interface Lanes {
  /** The reference: Debian's, and the current release where Go is installed. */
  readonly references: readonly Lane[];
  /** Our program, without an agent. */
  readonly program: Lane;
  /** Our client, with an agent. */
  readonly client: Lane;
}

/** Builds ours and finds the others. Says which are not there. */
export function lanes(): Lanes {
  buildDriver();
  buildCommand();
  const program = resolve('build/bench/program');
  const client = resolve('build/bench/client');
  for (const directory of [program, client]) rmSync(directory, { recursive: true, force: true });
  mkdirSync(program, { recursive: true });
  for (const type of PLUGINS.keys())
    symlinkSync(resolve(buildStandalone(), 'heddle-cni'), join(program, type));
  installClient(client);
  const references = [
    { name: 'Debian 1.1.1', directory: '/usr/lib/cni' },
    { name: 'reference 1.10.0', directory: resolve('build/reference') },
  ].filter(({ name, directory }) => {
    if (existsSync(join(directory, 'bridge'))) return true;
    console.log(`skipped: ${name}: not in ${directory}`);
    return false;
  });
  return {
    references,
    program: { name: 'program', directory: program },
    client: { name: 'client + agent', directory: client },
  };
}

/** A lane with an agent of this checkout. */
export function withAgent(lane: Lane): Contender {
  return {
    ...lane,
    agent: {
      program: resolve('bin/heddle'),
      args: ['agent'],
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      needs: [resolve('.')],
      readyPath: '/run/heddle/agent.sock',
    },
  };
}

/** An agent is resident: what is measured is one that has served before. */
export async function serveBefore(site: Site): Promise<void> {
  const options = { parallel: 4, probes: [] };
  for (let round = 0; round < 4; round++) {
    const pods = await site.pods.make(20);
    await site.run('ADD', pods, options);
    await site.run('DEL', pods, options);
  }
}
