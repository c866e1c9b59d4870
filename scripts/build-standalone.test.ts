/** What is inside the plugins' program, and what it takes notice of: its start-up time and its safety. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { buildStandalone } from './build-standalone.ts';
import { bundleContents } from './bundle-standalone.ts';

/** What is in the program may be from these. */
const ALLOWED = [
  /^packages\/(errors|netaddr|wire|sys|netlink|cni|ipam|dhcp|dataplane|plugins|standalone)\/src\//,
  /^node_modules\/(valibot|jsonc-parser)\//,
  // The list of what is loaded while the program is built.
  /^<stdin>$/,
];

describe('the plugins’ program', () => {
  let directory = '';
  let program = '';
  before(() => {
    directory = buildStandalone();
    program = resolve(directory, 'heddle-cni');
  });

  test('holds what plugins need, and nothing else', () => {
    const modules = Object.keys(bundleContents(directory).inputs);
    assert.ok(modules.length > 300, `${modules.length} modules`);
    assert.deepEqual(
      modules.filter((path) => !ALLOWED.some((pattern) => pattern.test(path))),
      [],
    );
    assert.deepEqual(
      modules.filter((path) => /\/testing\/|\.test\.ts$/.test(path)),
      [],
    );
  });

  test('has all that its modules import', () => {
    const imports = Object.values(bundleContents(directory).inputs).flatMap((module) => module.imports);
    assert.deepEqual(
      imports.filter(({ path }) => path.startsWith('node:') || path.startsWith('#')),
      [],
    );
  });

  test('is one file that needs no other', () => {
    const { stdout } = spawnSync('readelf', ['--program-headers', program], { encoding: 'utf8' });
    assert.match(stdout, /LOAD/);
    assert.doesNotMatch(stdout, /INTERP|DYNAMIC/);
    // No memory is both written and executed.
    assert.doesNotMatch(stdout, /RWE/);
  });

  test('takes no notice of files in the directory that it is called in', () => {
    const directory = mkdtempSync(join(tmpdir(), 'heddle-bundle-'));
    try {
      writeFileSync(join(directory, '.env'), 'CNI_COMMAND=VERSION\n');
      writeFileSync(join(directory, 'program.js'), 'throw new Error("loaded")');
      writeFileSync(join(directory, 'package.json'), 'this is no JSON');
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

  test('runs where its directory was deleted', () => {
    const directory = mkdtempSync(join(tmpdir(), 'heddle-gone-'));
    mkdirSync(join(directory, 'gone'));
    const script = `cd ${directory}/gone && rmdir ${directory}/gone && exec -a loopback ${program}`;
    const call = { env: { CNI_COMMAND: 'VERSION' }, encoding: 'utf8' } as const;
    const { status, stdout } = spawnSync('/bin/bash', ['--norc', '-c', script], call);
    rmdirSync(directory);
    assert.equal(status, 0);
    assert.match(stdout, /supportedVersions/);
  });

  test('answers nobody when its output is closed, and lets no file take its place', () => {
    const script = `exec -a loopback ${program} >&-`;
    const { status, stderr } = spawnSync('/bin/bash', ['--norc', '-c', script], {
      env: { CNI_COMMAND: 'VERSION' },
    });
    assert.deepEqual({ status, stderr: String(stderr) }, { status: 0, stderr: '' });
  });
});
