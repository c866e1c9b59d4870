/** Checks one of our own plugins with the conformance kit, as a user would by the command. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { buildCommand } from '../../scripts/build-command.ts';
import { THROUGH_AGENT } from '../support/agent-lane.ts';

interface Report {
  readonly summary: string;
  readonly milliseconds: number;
  readonly passed: number;
  readonly checks: readonly {
    readonly id: string;
    readonly status: string;
    readonly note: string | null;
    readonly failure: { readonly expected: string; readonly got: string } | null;
  }[];
}

/** What to check. */
export interface OwnPlugin {
  /** Where our plugins are installed. */
  readonly directory: string;
  readonly type: string;
  /** All when left out. */
  readonly only?: readonly string[];
  /** Fewer checks that are about the plugin would mean that the kit has lost sight of it. */
  readonly atLeast: number;
  /** What runs on the node meanwhile, and the path that is there when it is ready. */
  readonly daemon?: { readonly command: string; readonly ready: string };
  /** At how many calls of each command it is killed, unless HEDDLE_CRASH says; else as many as the kit takes by itself. */
  readonly crashPoints?: number;
}

/** Runs the kit; every check that is about the plugin must pass. The test's diagnostics say how long that took. */
export function mustPass(
  t: TestContext,
  { directory, type, only = [], atLeast, daemon, crashPoints }: OwnPlugin,
): void {
  const agent = [...['--daemon', `${resolve('bin/heddle')} agent`], ...['--ready', '/run/heddle/agent.sock']];
  const crash = process.env['HEDDLE_CRASH'] ?? crashPoints;
  const args = [
    ...[resolve(buildCommand()), 'conformance', join(directory, type), '-o', 'json'],
    ...only.flatMap((id) => ['--check', id]),
    ...(daemon === undefined ? [] : ['--daemon', daemon.command, '--ready', daemon.ready]),
    ...(THROUGH_AGENT && daemon === undefined ? agent : []),
    ...(crash === undefined ? [] : ['--crash', String(crash)]),
  ];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.match(stdout, /^\{\s*"program"/, stdout + stderr);
  const { checks, passed, summary, milliseconds } = JSON.parse(stdout) as Report;
  t.diagnostic(`${type}: ${summary}, in ${(milliseconds / 1000).toFixed(1)} s`);
  for (const { id, note } of checks) if (note !== null) t.diagnostic(`${id}: ${note}`);
  assert.deepEqual(
    checks
      .filter(({ status }) => status === 'failed')
      .map(({ id, failure }) => `${id}: expected ${failure?.expected}; got ${failure?.got}`),
    [],
  );
  assert.ok(passed >= atLeast, `only ${passed} checks were about it`);
}
