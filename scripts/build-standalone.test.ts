/** What is inside the plugins' program, and what it takes notice of: its start-up time and its safety. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { buildStandalone, bundleContents } from './build-standalone.ts';

const ALLOWED = [
  /^packages\/(errors|netaddr|wire|sys|netlink|cni|ipam|dataplane|plugins|standalone)\/src\//,
  /^node_modules\/(valibot|jsonc-parser)\//,
];
/** Of the modules of the runtime: no servers, no streams of the network, no threads, nothing that takes long to load. */
const ALLOWED_BUILTINS = ['child_process', 'crypto', 'fs', 'os', 'path', 'timers/promises', 'url', 'util'];

describe('the plugins’ program', () => {
  let program = '';
  before(() => {
    program = resolve(buildStandalone(), 'heddle-cni');
  });

  test('holds only what a plugin needs', () => {
    const { inputs } = bundleContents();
    const modules = Object.keys(inputs);
    assert.ok(modules.length > 50, `${modules.length} modules`);
    assert.deepEqual(
      modules.filter((path) => !ALLOWED.some((pattern) => pattern.test(path))),
      [],
    );
    assert.deepEqual(
      modules.filter((path) => /\/testing\/|\.test\.ts$/.test(path)),
      [],
    );
  });

  test('loads only light modules of the runtime', () => {
    const imported = Object.values(bundleContents().inputs).flatMap(({ imports }) =>
      imports.flatMap(({ path, external }) => (external === true ? [path.replace(/^node:/, '')] : [])),
    );
    assert.deepEqual(
      [...new Set(imported)].filter((name) => !ALLOWED_BUILTINS.includes(name)),
      [],
    );
  });

  test('takes no notice of files in the directory that it is called in', () => {
    const directory = mkdtempSync(join(tmpdir(), 'heddle-bundle-'));
    try {
      writeFileSync(join(directory, '.env'), 'CNI_COMMAND=VERSION\n');
      writeFileSync(join(directory, 'preload.ts'), 'console.log("preloaded");\n');
      writeFileSync(join(directory, 'bunfig.toml'), 'preload = ["./preload.ts"]\n');
      writeFileSync(
        join(directory, 'package.json'),
        '{ "type": "commonjs", "imports": { "#x": "./preload.ts" } }',
      );
      writeFileSync(join(directory, 'tsconfig.json'), 'this is no JSON');
      const call = { cwd: directory, env: {}, argv0: 'loopback', encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(program, [], call);
      // Without CNI_COMMAND a plugin says who it is.
      assert.deepEqual({ status, stdout }, { status: 0, stdout: '' });
      assert.match(stderr, /^CNI loopback plugin/);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test('is the plugin that it is called as, and no other', () => {
    const version = (argv0: string) =>
      spawnSync(program, [], { env: { CNI_COMMAND: 'VERSION' }, argv0, encoding: 'utf8' });
    assert.match(version('/opt/cni/bin/bridge').stdout, /"supportedVersions":\["0.1.0"/);
    const unknown = version('heddle-cni');
    assert.equal(unknown.status, 2);
    assert.match(unknown.stderr, /holds the CNI plugins .*bridge,/);
  });
});
