/** The runtime with the reference's own plugins, as distributions package them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bindNetns, createNetns, type NetnsHandle, runInNetns, unbindNetns } from '@heddle/sys';
import { parseNetworkList } from '../index.ts';
import { execPlugin, systemExec } from './exec.ts';
import type { PluginExec, PluginOutput } from './plugin-exec.ts';
import { bytesOf, network, POD } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

const DIRECTORIES = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];
const NEEDED = ['bridge', 'host-local', 'tuning', 'loopback'];
const path = DIRECTORIES.find((directory) => NEEDED.every((type) => existsSync(join(directory, type))));
const skip = path === undefined ? `no reference plugins in ${DIRECTORIES.join(', ')}` : false;

/** Starts plugins in a namespace that plays the host. */
function execIn(netns: NetnsHandle): PluginExec {
  return {
    ...systemExec(),
    async run(run) {
      const started: Promise<PluginOutput>[] = [];
      runInNetns(netns, () => void started.push(execPlugin(run)));
      const [output] = await Promise.all(started);
      assert.ok(output !== undefined);
      return output;
    },
  };
}

function addressesIn(netns: NetnsHandle, ifName: string): readonly string[] {
  const json = runInNetns(netns, () =>
    execFileSync('ip', ['-j', 'address', 'show', 'dev', ifName], { encoding: 'utf8' }),
  );
  const [link] = JSON.parse(json) as { addr_info: { scope: string; local: string; prefixlen: number }[] }[];
  return (link?.addr_info ?? []).flatMap(({ scope, local, prefixlen }) =>
    scope === 'global' ? [`${local}/${prefixlen}`] : [],
  );
}

test("the reference's bridge, host-local and tuning serve a dual-stack pod through its whole life", {
  skip,
}, async () => {
  using stubs = new StubPlugins();
  using host = createNetns();
  using container = createNetns();
  const netns = join(stubs.root, 'netns');
  bindNetns(container, netns);
  try {
    const runtime = stubs.runtime({
      path: [path ?? ''],
      exec: execIn(host),
      env: { PATH: process.env['PATH'] },
    });
    const dataDir = join(stubs.root, 'ipam');
    const list = parseNetworkList(
      bytesOf({
        cniVersion: '1.0.0',
        name: 'hdnet',
        plugins: [
          {
            type: 'bridge',
            bridge: 'hdbr0',
            isGateway: true,
            ipam: {
              type: 'host-local',
              dataDir,
              ranges: [[{ subnet: '10.99.0.0/24' }], [{ subnet: 'fd00:99::/64' }]],
            },
          },
          { type: 'tuning', capabilities: { mac: true } },
        ],
      }),
    );
    const pod = { ...POD, netns, capabilityArgs: { mac: '02:00:00:00:00:01' } };
    assert.deepEqual(await runtime.validate(list), new Set(['mac']));
    const result = await runtime.add(list, pod);
    assert.deepEqual(
      result.ips?.map(({ address }) => address),
      ['10.99.0.2/24', 'fd00:99::2/64'],
    );
    assert.equal(result.interfaces?.[2]?.mac, '02:00:00:00:00:01');
    assert.deepEqual(addressesIn(container, 'eth0'), ['10.99.0.2/24', 'fd00:99::2/64']);
    await runtime.check(list, pod);
    await runtime.gc(list, [{ containerID: pod.containerID, ifname: pod.ifName }]);
    await runtime.check(list, pod);
    runInNetns(container, () => execFileSync('ip', ['address', 'del', '10.99.0.2/24', 'dev', 'eth0']));
    await assert.rejects(runtime.check(list, pod));
    await runtime.gc(list, []);
    assert.deepEqual(runtime.attachments(), []);
    assert.deepEqual(
      readdirSync(join(dataDir, 'hdnet')).filter((name) => name.includes('10.99')),
      [],
    );
    await runtime.del(list, pod);
    await runtime.del(list, { ...pod, netns: '' });
  } finally {
    unbindNetns(netns);
  }
});

test("the reference's loopback runs by itself", { skip }, async () => {
  using stubs = new StubPlugins();
  using host = createNetns();
  using container = createNetns();
  const netns = join(stubs.root, 'netns');
  bindNetns(container, netns);
  try {
    const runtime = stubs.runtime({
      path: [path ?? ''],
      exec: execIn(host),
      env: { PATH: process.env['PATH'] },
    });
    const list = network(['loopback'], { cniVersion: '1.0.0' });
    const pod = { ...POD, netns, ifName: 'lo' };
    const result = await runtime.add(list, pod);
    assert.deepEqual(
      result.ips?.map(({ address }) => address),
      ['127.0.0.1/8', '::1/128'],
    );
    await runtime.check(list, pod);
    await runtime.del(list, pod);
  } finally {
    unbindNetns(netns);
  }
});
