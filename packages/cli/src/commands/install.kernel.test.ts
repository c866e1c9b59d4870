/** The subnets of the first network, chosen by what the kernel already has. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { KernelLab } from '../testing/kernel-lab.ts';

async function installedSubnets(lab: KernelLab): Promise<readonly string[]> {
  lab.write('program/heddle-cni', 'program');
  rmSync(join(lab.places.configDir, '10-podnet.conflist'));
  const { exitCode, stderr } = await lab.run(['install']);
  assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
  const { plugins } = JSON.parse(lab.read('net.d/10-heddle.conflist'));
  return plugins[0].ipam.ranges.map(([{ subnet }]: readonly [{ subnet: string }]) => subnet);
}

describe('the first network', () => {
  test('keeps out of networks that the node has routes into', async () => {
    using lab = new KernelLab();
    lab.host.run('ip', 'route', 'add', 'unreachable', '10.90.128.0/17');
    lab.host.run('ip', 'route', 'add', 'unreachable', 'default');
    assert.deepEqual(await installedSubnets(lab), ['10.91.0.0/16', 'fdab:abab:abab::/64']);
  });

  test('takes up the subnets of a bridge that is there from before', async () => {
    using lab = new KernelLab();
    lab.host.run('ip', 'link', 'add', 'heddle0', 'up', 'type', 'bridge');
    lab.host.run('ip', 'address', 'add', '10.95.0.1/16', 'dev', 'heddle0');
    lab.host.run('ip', 'address', 'add', 'fd95::1/64', 'dev', 'heddle0', 'nodad');
    lab.host.run('ip', 'address', 'add', 'fe80::95/64', 'dev', 'heddle0', 'nodad');
    assert.deepEqual((await installedSubnets(lab)).toSorted(), ['10.95.0.0/16', 'fd95::/64']);
  });
});
