/** What is inside the plugins' program, and what it takes notice of: its start-up time and its safety. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { buildStandalone, bundleContents } from './build-standalone.ts';

/** What every call of every plugin loads may be from these. */
const ALLOWED = [
  /^packages\/(errors|netaddr|wire|sys|netlink|cni|ipam|dataplane|plugins|standalone)\/src\//,
  /^packages\/dhcp\/src\/places\.ts$/,
  /^node_modules\/(valibot|jsonc-parser)\//,
];
/** Of the modules of the runtime: no servers, no streams of the network, no threads, nothing that takes long to load. */
const ALLOWED_BUILTINS = ['child_process', 'crypto', 'fs', 'os', 'path', 'timers/promises', 'url', 'util'];

describe('the plugins’ program', () => {
  let program = '';
  before(() => {
    program = resolve(buildStandalone(), 'heddle-cni');
  });

  test('loads at its start only what every plugin needs', () => {
    const modules = loadedAtStart();
    assert.ok(modules.length > 50, `${modules.length} modules`);
    assert.deepEqual(
      modules.filter((path) => !ALLOWED.some((pattern) => pattern.test(path))),
      [],
    );
  });

  test('holds nothing else than what plugins need, the client and the daemon of dhcp included', () => {
    const modules = Object.keys(bundleContents().inputs);
    const allowed = [...ALLOWED, /^packages\/dhcp\/src\//];
    assert.deepEqual(
      modules.filter(
        (path) => !allowed.some((pattern) => pattern.test(path)) || /\/testing\/|\.test\.ts$/.test(path),
      ),
      [],
    );
  });

  test('loads at its start only light modules of the runtime', () => {
    const { inputs } = bundleContents();
    const imported = loadedAtStart().flatMap((module) =>
      (inputs[module]?.imports ?? []).flatMap(({ path, external, kind }) =>
        external === true && kind !== 'dynamic-import' ? [path.replace(/^node:/, '')] : [],
      ),
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

/** The modules that the program loads before it looks at what is asked: all but those behind `import()`. */
function loadedAtStart(): readonly string[] {
  const { inputs } = bundleContents();
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, external, kind } of inputs[path]?.imports ?? []) {
      if (external !== true && kind !== 'dynamic-import') visit(next);
    }
  };
  visit('packages/standalone/src/main.ts');
  return [...seen];
}
