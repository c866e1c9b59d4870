import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS, PluginError } from '@heddle/cni';
import { PluginLab, ReferencePlugins } from '../testing/index.ts';
import { loopback } from './index.ts';

const config = { type: 'loopback' };

test('loopback at every version', async (t) => {
  using lab = new PluginLab([loopback]);
  for (const cniVersion of CNI_VERSIONS) {
    await t.test(cniVersion, async () => {
      const container = lab.container();
      const request = { config: { ...config, cniVersion }, container, ifName: 'ignored0' };
      const { stdout } = await lab.run({ ...request, command: 'ADD' });
      assert.equal((await container.session.links.get('lo')).up, true);
      const result = JSON.parse(stdout);
      assert.equal(result.cniVersion, cniVersion);
      if (cniVersion === '0.1.0' || cniVersion === '0.2.0') {
        assert.deepEqual([result.ip4.ip, result.ip6.ip], ['127.0.0.1/8', '::1/128']);
      } else {
        const isOld = cniVersion.startsWith('0.');
        assert.deepEqual(result.interfaces, [
          { name: 'lo', mac: '00:00:00:00:00:00', sandbox: container.path },
        ]);
        assert.deepEqual(
          result.ips.map((ip: { version?: string }) => ip.version),
          isOld ? ['4', '6'] : [undefined, undefined],
        );
      }
      await lab.del(request);
      assert.equal((await container.session.links.get('lo')).up, false);
      await lab.del(request);
      await lab.del({ ...request, netns: '' });
      await lab.del({ ...request, netns: '/nowhere/netns' });
    });
  }
});

test('CHECK needs no previous result, and sees that lo is down', async () => {
  using lab = new PluginLab([loopback]);
  const container = lab.container();
  await lab.add({ config, container });
  await lab.check({ config, container });
  await container.session.links.set('lo', { up: false });
  await assert.rejects(lab.check({ config, container }), { cniCode: 150, msg: 'link lo should be up' });
});

test('a previous result passes through', async () => {
  using lab = new PluginLab([loopback]);
  const container = lab.container();
  const prevResult = {
    cniVersion: '1.1.0',
    interfaces: [{ name: 'eth0', sandbox: container.path }],
    ips: [{ address: '192.0.2.5/24', interface: 0 }],
  };
  assert.deepEqual(await lab.add({ config, container, prevResult }), prevResult);
});

test('an address that is no loopback address is refused', async () => {
  using lab = new PluginLab([loopback]);
  const container = lab.container();
  container.run('ip', 'address', 'add', '192.0.2.7/32', 'dev', 'lo');
  await assert.rejects(lab.add({ config, container }), /lo has 192\.0\.2\.7\/32/);
});

test('GC and STATUS have nothing to do', async () => {
  using lab = new PluginLab([loopback]);
  await lab.gc(config, []);
  await lab.status(config);
});

for (const [release, reference, absent] of [
  ['current', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
  ['packaged', ReferencePlugins.find(), ReferencePlugins.ABSENT],
] as const) {
  test(`the ${release} reference does the same at every version`, {
    skip: reference === undefined && absent,
  }, async () => {
    using lab = new PluginLab([loopback]);
    for (const cniVersion of CNI_VERSIONS) {
      const seen: unknown[] = [];
      for (const isOurs of [false, true]) {
        const container = lab.container();
        const states: unknown[] = [];
        for (const command of ['ADD', 'DEL', 'DEL'] as const) {
          const call = { command, config: { ...config, cniVersion }, container, ifName: 'lo' };
          const stdout = isOurs
            ? (await lab.run(call)).stdout
            : reference && answer(() => reference.run(lab.host, call));
          // Whatever the version, theirs has the form of 1.0.0.
          const hasForm = command !== 'ADD' || cniVersion.startsWith('1.');
          states.push([command, hasForm ? comparable(stdout ?? '', container.path) : 'a result']);
          states.push([container.run('ip', '-o', 'address'), container.run('ip', '-o', 'link')]);
        }
        seen.push(states);
      }
      // The packaged release is older than the newest version.
      if (JSON.stringify(seen[0]).includes('incompatible CNI versions')) continue;
      assert.deepEqual(seen[1], seen[0], cniVersion);
    }
  });
}

/** What a plugin prints, a refusal included. */
function answer(ask: () => string): string {
  try {
    return ask();
  } catch (error) {
    assert.ok(error instanceof PluginError, String(error));
    return JSON.stringify({ refused: error.msg });
  }
}

/** A result without its namespace, and without the empty dns that the packaged release prints. */
function comparable(stdout: string, path: string): unknown {
  if (stdout === '') return 'nothing';
  const { dns: _, ...result } = JSON.parse(stdout.replaceAll(path, 'SANDBOX'));
  return result;
}
