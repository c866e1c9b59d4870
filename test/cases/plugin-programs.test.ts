/** Reports about plugins as programs: where they are found, and what they say of themselves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@heddle/cni';
import { PLUGINS } from '@heddle/plugins';
import { CaseNode, print, printVersions } from './case-node.ts';

const bridgeAndPortmap = (dataDir: string): JsonObject => ({
  cniVersion: '1.0.0',
  name: 'br',
  plugins: [
    { type: 'bridge', bridge: 'hdcase0', ipam: { type: 'host-local', subnet: '192.0.2.0/24', dataDir } },
    { type: 'portmap' },
  ],
});

test('podman-container-tools/podman#21511: plugins that are too old are named before any of them runs', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const old = printVersions(['0.3.1', '0.4.0']);
  const paths = ['bridge', 'portmap'].map((type) => node.stub(type, { VERSION: old, ADD: print('{}') }));
  node.config('10-br.conflist', bridgeAndPortmap(node.dataDir));
  const network = node.list('br', bridgeAndPortmap(node.dataDir)['plugins'] as JsonObject[], {
    cniVersion: '1.0.0',
  });
  const before = node.state();

  await assert.rejects(node.cni.add(network, pod.attachment, { validateFirst: true }), (error: Error) => {
    for (const path of paths) assert.ok(error.message.includes(`${path} supports [0.3.1 0.4.0]`));
    assert.match(error.message, /plugin bridge does not support config version "1\.0\.0"/);
    assert.match(error.message, /the highest version that all plugins support is 0\.4\.0/);
    return true;
  });
  assert.deepEqual(node.calls(), []);
  node.assertClean(before);

  const { status, stdout } = node.heddle('version', ['br']);
  assert.equal(status, 1);
  for (const path of paths)
    assert.ok(stdout.split('\n').some((line) => /0\.3\.1 0\.4\.0 +no /.test(line) && line.endsWith(path)));
});

test('cri-o/cri-o#1301: a broken link is passed over for a plugin that works, and named when there is none', () => {
  using node = new CaseNode();
  node.config('10-a.conflist', { cniVersion: '1.1.0', name: 'a', plugins: [{ type: 'bridge' }] });
  const link = join(node.stubs, 'bridge');
  symlinkSync('/nonexistent', link);
  const works = node.heddle('status', ['a']);
  assert.equal(works.status, 0);
  const instead = `plugin "bridge": using ${node.bin}/bridge, although ${link} is a broken link`;
  assert.equal(works.stderr, `heddle: warning: ${instead} (to /nonexistent)\n`);

  unlinkSync(join(node.bin, 'bridge'));
  const fails = node.heddle('status', ['a']);
  assert.equal(fails.status, 1);
  assert.ok(fails.stderr.includes(`failed to find plugin "bridge" in path [${node.stubs} ${node.bin}]`));
  assert.ok(fails.stderr.includes(`${link} is a broken link (to /nonexistent)`));
});

for (const [what, make, problem] of [
  ['a directory', (path: string) => mkdirSync(path), 'is no file but a directory'],
  ['not executable', (path: string) => writeFileSync(path, '#!/bin/sh\n'), 'is not executable'],
  ['for another processor', writeForeign, 'is built for ELF machine 75'],
] as const) {
  test(`cri-o/cri-o#1301: a plugin that is ${what} is told to be so`, async () => {
    using node = new CaseNode();
    const path = join(node.stubs, 'bridge');
    make(path);
    const network = node.list('a', [{ type: 'bridge' }]);
    await node.cni.status(network);

    unlinkSync(join(node.bin, 'bridge'));
    await assert.rejects(node.cni.status(network), (error: Error) => {
      assert.ok(error.message.includes(path) && error.message.includes(problem), error.message);
      return true;
    });
    rmSync(path, { recursive: true });
  });
}

test('podman-container-tools/podman#14363: VERSION needs no configuration and no other variable', () => {
  using node = new CaseNode();
  for (const [type, { versions }] of PLUGINS) {
    for (const input of ['{"cniVersion":"0.4.0"}', '', '{}']) {
      const env = { CNI_COMMAND: 'VERSION' };
      const { status, stdout } = spawnSync(join(node.bin, type), { env, input, encoding: 'utf8' });
      assert.equal(status, 0, `${type} on ${JSON.stringify(input)}: ${stdout}`);
      assert.deepEqual(JSON.parse(stdout).supportedVersions, versions, type);
    }
  }
});

test('podman-container-tools/podman#14363: a plugin that fails VERSION is warned of in its own words, and may run', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const refusal = { cniVersion: '0.4.0', code: 7, msg: 'name is required' };
  const path = node.stub('foreign', {
    VERSION: `${print(refusal)}; exit 1`,
    ADD: print({ ips: [{ address: '192.0.2.5/24' }] }),
  });
  const network = node.list('a', [{ type: 'foreign' }]);
  await node.cni.add(network, pod.attachment, { validateFirst: true });
  assert.deepEqual(node.warnings, [
    `plugin "foreign" (${path}) does not tell its versions: name is required`,
  ]);
  assert.deepEqual(node.calls(), ['ADD foreign c1']);
});

test('Azure/azure-container-networking#918: no answer to VERSION is said to be the plugin, not the configuration', async () => {
  using node = new CaseNode();
  const path = node.stub('silent', { VERSION: ':' });
  const network = node.list('a', [{ type: 'silent', comment: 'a configuration that is fine' }]);
  await assert.rejects(node.cni.validate(network), (error: Error) => {
    assert.ok(error.message.includes(`plugin "silent" (${path}) returned no output to VERSION`));
    assert.doesNotMatch(error.message, /a configuration that is fine|unexpected end/);
    return true;
  });
});

test('kubernetes/kubernetes#62054: without any plugin directory nothing is run from the current one', async () => {
  using node = new CaseNode();
  node.config('10-lo.conflist', { cniVersion: '1.1.0', name: 'lo', plugins: [{ type: 'loopback' }] });
  const network = node.list('lo', [{ type: 'loopback' }]);
  for (const path of [[], [''], ['', '']]) {
    await assert.rejects(node.runtime(path).status(network), /no plugin directory configured/);
  }
  await assert.rejects(node.runtime(['/nonexistent']).status(network), {
    msg: 'failed to find plugin "loopback" in path [/nonexistent]',
  });
  // The command looks where the node's runtimes do, or else has a default, for when there is nothing at all.
  node.config('20-none.conflist', { cniVersion: '1.1.0', name: 'none', plugins: [{ type: 'is-nowhere' }] });
  const said = (path: string) => node.heddle('status', ['none'], { CNI_PATH: path }).stderr;
  assert.match(said(''), /failed to find plugin "is-nowhere" in path \[\/\S+( \/\S+)*\]/);
  assert.match(said(':'), /no plugin directory configured/);
});

/** A program of this machine, but for its processor, which is one that nobody builds any more. */
function writeForeign(path: string): void {
  const content = readFileSync('/bin/true');
  // e_machine of the ELF header: EM_VAX.
  content.writeUInt16LE(75, 18);
  writeFileSync(path, content, { mode: 0o755 });
}
