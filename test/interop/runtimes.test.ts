/** The conformance kit drives our runtime and those of others; what it finds in them is what docs/conformance/runtimes.md says. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { missing, missingReference, REFERENCE } from '../support/programs.ts';

const MAIN = [process.execPath, '--conditions=source', resolve('packages/cli/src/main.ts')] as const;

/** A directory with our command under its name. */
let programs: string;
before(() => {
  programs = mkdtempSync(join(tmpdir(), 'heddle-runtimes-'));
  writeFileSync(
    join(programs, 'heddle'),
    `#!/bin/sh\nexec ${MAIN.map((word) => `'${word}'`).join(' ')} "$@"\n`,
  );
  chmodSync(join(programs, 'heddle'), 0o755);
});
after(() => rmSync(programs, { recursive: true }));

interface Report {
  readonly checks: readonly {
    readonly id: string;
    readonly status: string;
    readonly reason: string | null;
  }[];
}

function check(runtime: string): Report {
  const [node, ...words] = MAIN;
  const { stdout, stderr } = spawnSync(node, [...words, 'conformance', '--runtime', runtime, '-o', 'json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, PATH: [programs, REFERENCE.current, process.env['PATH']].join(delimiter) },
  });
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as Report;
}

const RUNTIMES: readonly {
  readonly runtime: string;
  readonly skip: string | false;
  readonly fails: readonly string[];
  /** CHECK, GC and STATUS are not to be had from everybody. */
  readonly claims: 'all' | 'some';
}[] = [
  { runtime: 'heddle', skip: false, fails: ['no-capabilities-member'], claims: 'all' },
  {
    runtime: 'cnitool',
    skip: missingReference('cnitool'),
    fails: ['no-capabilities-member', 'gc-list'],
    claims: 'all',
  },
  {
    runtime: 'podman',
    skip: missing('podman', 'runc', 'busybox', 'jq'),
    fails: ['no-capabilities-member', 'failed-del'],
    claims: 'some',
  },
  {
    runtime: 'containerd',
    skip: missing('containerd', 'ctr', 'runc', 'busybox'),
    fails: ['no-capabilities-member', 'del-order', 'failed-del'],
    claims: 'some',
  },
];

for (const { runtime, skip, fails, claims } of RUNTIMES) {
  test(`${runtime} is checked, and fails what is known and explained`, { skip }, () => {
    const { checks } = check(runtime);
    const idsOf = (status: string) => checks.filter((each) => each.status === status).map(({ id }) => id);
    assert.deepEqual(
      idsOf('failed'),
      fails.map((name) => `runtime/${name}`),
    );
    assert.deepEqual(idsOf('skipped'), []);
    assert.equal(idsOf('unclaimed').length > 0, claims === 'some');
  });
}
