/** What is inside the plugins' program, and what it takes notice of: its start-up time and its safety. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { buildStandalone, bundleContents } from './build-standalone.ts';

const MAIN = 'packages/standalone/src/main.ts';
/** What is loaded before anything is known of the call may be from these. */
const ALLOWED_AT_START = [
  /^packages\/standalone\/src\/(main|end|descriptors)\.ts$/,
  /^packages\/plugins\/src\/catalogue\.ts$/,
  /^packages\/cni\/src\/(index|versions|errors|codes|plugin\/(index|introduction))\.ts$/,
  /^packages\/errors\/src\//,
];
/** What a call of a plugin loads may be from these. */
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

  test('loads next to nothing before it knows what is asked', () => {
    assert.deepEqual(others(loadedFor(MAIN), ALLOWED_AT_START), []);
  });

  test('loads for a call only what plugins need', () => {
    for (const entry of entriesOfPlugins()) {
      const modules = loadedFor(entry);
      assert.ok(modules.length > 10, `${entry}: ${modules.length} modules`);
      assert.deepEqual(others(modules, ALLOWED), [], entry);
    }
  });

  test('holds nothing else than what plugins need, the client and the daemon of dhcp included', () => {
    const modules = Object.keys(bundleContents().inputs);
    const allowed = [...ALLOWED, /^packages\/dhcp\/src\//];
    assert.deepEqual(others(modules, allowed), []);
    assert.deepEqual(
      modules.filter((path) => /\/testing\/|\.test\.ts$/.test(path)),
      [],
    );
  });

  test('loads for a call only light modules of the runtime', () => {
    for (const entry of entriesOfPlugins()) {
      const imported = loadedFor(entry).flatMap(builtinsOf);
      assert.deepEqual(
        [...new Set(imported)].filter((name) => !ALLOWED_BUILTINS.includes(name)),
        [],
        entry,
      );
    }
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

function others(modules: readonly string[], allowed: readonly RegExp[]): readonly string[] {
  return modules.filter((path) => !allowed.some((pattern) => pattern.test(path)));
}

/** What a call loads by `import()`: its plugins, and what serves them. */
function entriesOfPlugins(): readonly string[] {
  const entries = Object.values(bundleContents().outputs).flatMap(({ entryPoint = [] }) => entryPoint);
  return entries.filter((entry) =>
    /^packages\/plugins\/src\/[^/]+\/index\.ts$|\/serve-once\.ts$/.test(entry),
  );
}

/** The modules that are loaded with an entry point, but for those behind a further `import()`. */
function loadedFor(entry: string): readonly string[] {
  const { outputs } = bundleContents();
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? []) {
      if (kind !== 'dynamic-import' && next in outputs) visit(next);
    }
  };
  visit(Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entry) ?? entry);
  return [...seen].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
}

function builtinsOf(module: string): readonly string[] {
  const { inputs } = bundleContents();
  return (inputs[module]?.imports ?? []).flatMap(({ path, external, kind }) =>
    external === true && kind !== 'dynamic-import' && !path.startsWith('.')
      ? [path.replace(/^node:/, '')]
      : [],
  );
}
