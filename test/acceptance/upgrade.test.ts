/** Plugins that run while an upgrade puts another program in their place. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { Node } from '../support/node.ts';
import { until } from '../support/until.ts';

test('a plugin whose program is replaced while it runs does its work, and has its delegates do theirs', async () => {
  using node = new Node();
  using pod = node.pod('c1');
  const built = buildStandalone();
  const bin = join(node.directory, 'bin');
  const program = join(bin, 'heddle-cni');
  mkdirSync(bin);
  copyFileSync(join(built, 'heddle-cni'), program);
  for (const type of ['bridge', 'host-local']) symlinkSync('heddle-cni', join(bin, type));

  const { containerID, netns, ifName } = pod.attachment;
  const call = { CNI_CONTAINERID: containerID, CNI_NETNS: netns, CNI_IFNAME: ifName, CNI_PATH: bin };
  const run = async (CNI_COMMAND: string): Promise<string> => {
    const plugin = node.inside(() => spawn(join(bin, 'bridge'), [], { env: { ...call, CNI_COMMAND } }));
    const stdout = text(plugin.stdout);
    // It waits for its configuration.
    await until('the plugin to run', () =>
      readlinkSync(`/proc/${plugin.pid}/exe`) === program ? true : undefined,
    );
    copyFileSync(join(built, 'heddle-cni'), `${program}.new`);
    renameSync(`${program}.new`, program);
    const ipam = { type: 'host-local', subnet: '10.1.2.0/24', dataDir: join(node.directory, 'ipam') };
    plugin.stdin.end(
      JSON.stringify({ cniVersion: '1.0.0', name: 'n', type: 'bridge', bridge: 'hdup0', ipam }),
    );
    const [status] = await once(plugin, 'exit');
    assert.equal(status, 0, await stdout);
    return await stdout;
  };
  assert.equal(JSON.parse(await run('ADD')).ips[0].address, '10.1.2.2/24');
  await run('DEL');
  assert.equal(node.run('ip', '-o', 'link', 'show', 'master', 'hdup0'), '');
});
