import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { bunPath, putAddonInto } from '../../scripts/bun.ts';
import { codeBlocks } from '../support/markdown.ts';
import { Node } from '../support/node.ts';

const directory = resolve('build/write-a-plugin');
const bin = `${directory}/bin`;
let node: Node;

before(() => {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(bin, { recursive: true });
  for (const [name, text] of codeBlocks(readFileSync('docs/write-a-plugin.md', 'utf8'))) {
    writeFileSync(`${directory}/${name}`, text);
  }
  const out = `--outfile=${bin}/neighbours`;
  execFileSync(bunPath(), ['build', '--compile', '--conditions=source', out, `${directory}/main.ts`], {
    stdio: 'pipe',
  });
  const plugins = resolve(buildStandalone());
  putAddonInto(bin);
  for (const type of ['bridge', 'host-local']) symlinkSync(`${plugins}/heddle-cni`, `${bin}/${type}`);
  node = new Node();
});

after(() => {
  node[Symbol.dispose]();
  rmSync(directory, { recursive: true, force: true });
});

function neighbours(command: string, more: Record<string, string>, config: object) {
  const env = { CNI_COMMAND: command, CNI_PATH: bin, CNI_CONTAINERID: 'c1', CNI_IFNAME: 'eth0', ...more };
  const { stdout, stderr, status } = node.inside(() =>
    spawnSync(`${bin}/neighbours`, {
      input: JSON.stringify({ cniVersion: '1.1.0', name: 'quiet', ...config }),
      env,
      encoding: 'utf8',
    }),
  );
  return { status, stderr, json: stdout === '' ? undefined : JSON.parse(stdout) };
}

test('the plugin of the guide sets up, checks and takes down what it says', async () => {
  using pod = node.pod('c1');
  const runtime = node.runtime([bin]);
  const network = node.network(readFileSync(`${directory}/example.conflist`, 'utf8'));
  await runtime.add(network, pod.attachment);
  assert.match(
    pod.run('ip', 'neighbour', 'show', 'nud', 'permanent'),
    /192\.0\.2\.254 dev eth0 lladdr 02:00:5e:10:00:01/,
  );
  await runtime.check(network, pod.attachment);
  pod.run('ip', 'neighbour', 'del', '192.0.2.254', 'dev', 'eth0');
  await assert.rejects(
    runtime.check(network, pod.attachment),
    /eth0 has no neighbour 192\.0\.2\.254 with MAC 02:00:5e:10:00:01/,
  );
  await runtime.del(network, pod.attachment);
  await runtime.del(network, pod.attachment);
});

test('the code of the guide has the types that it says', () => {
  const config = { extends: resolve('tsconfig.json'), include: ['*.ts'] };
  writeFileSync(`${directory}/tsconfig.json`, JSON.stringify(config));
  const { status, stdout } = spawnSync('node_modules/.bin/tsc', ['-p', directory], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

test('the plugin of the guide answers as the guide says', () => {
  const version = neighbours('VERSION', {}, {});
  assert.equal(version.json.supportedVersions.length, 7);
  const here = { CNI_NETNS: '/proc/self/ns/net', CNI_NETNS_OVERRIDE: '1' };
  const bad = neighbours('ADD', here, { neighbours: [{ ip: '192.0.2.1', mac: '02:00' }] });
  assert.equal(bad.json.code, 7);
  assert.match(
    `${bad.json.msg}; ${bad.json.details}`,
    /invalid hardware address: 02:00; at neighbours\[0\]\.mac/,
  );
  const loose = neighbours('ADD', here, { neighbours: [] });
  assert.equal(loose.json.code, 7);
  assert.match(loose.json.msg, /must come after a plugin that makes the interface/);
});
