/** host-device with tuning behind it, called in the order in which a runtime calls them. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PluginLab } from '../testing/index.ts';
import { tuning } from '../tuning/index.ts';
import { hostDevice } from './index.ts';
import { addDevice, MAC, onHost } from './testing.ts';

const first = { type: 'host-device', device: 'hd0' };
const settings = { mtu: 1300, mac: '00:00:5e:00:53:10', promisc: true, allmulti: true };
const BACK = { name: 'hd0', mac: MAC, mtu: 1400, alias: undefined, up: false };

test('tuning restores the device before it goes back (containernetworking/plugins#493)', async () => {
  using lab = new PluginLab([hostDevice, tuning]);
  addDevice(lab);
  const second = { type: 'tuning', ...settings, dataDir: join(lab.directory, 'tuning') };
  const container = lab.container();
  const moved = await lab.add({ config: first, container });
  const prevResult = await lab.add({ config: second, container, prevResult: moved });
  assert.equal(prevResult.interfaces?.[0]?.mac, settings.mac);
  assert.deepEqual((await container.session.links.get('eth0')).mtu, 1300);
  for (const config of [first, second]) await lab.check({ config, container, prevResult });
  for (let time = 0; time < 2; time++) {
    for (const config of [second, first]) await lab.del({ config, container, prevResult });
    assert.deepEqual(await onHost(lab), BACK);
    const { promiscuity, allmulti } = await lab.host.session.links.get('hd0');
    assert.deepEqual([promiscuity, allmulti], [0, false]);
  }
});

test('without its backup, the device goes back as the container had it, with a warning', async () => {
  using lab = new PluginLab([hostDevice, tuning]);
  addDevice(lab);
  const dataDir = join(lab.directory, 'tuning');
  const second = { type: 'tuning', ...settings, dataDir };
  const container = lab.container();
  const moved = await lab.add({ config: first, container });
  const prevResult = await lab.add({ config: second, container, prevResult: moved });
  rmSync(dataDir, { recursive: true });
  const { exitCode, stderr } = await lab.run({ command: 'DEL', config: second, container, prevResult });
  assert.equal(exitCode, 0);
  assert.match(stderr, /there is no backup/);
  await lab.del({ config: first, container, prevResult });
  assert.deepEqual(await onHost(lab), { ...BACK, mac: settings.mac, mtu: settings.mtu });
});
