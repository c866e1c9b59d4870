/** What uninstalling leaves in the kernel, and what `--purge` does about it. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { KernelLab } from '../testing/kernel-lab.ts';

/** A node where the first network was used once. */
async function usedLab(): Promise<KernelLab> {
  const lab = new KernelLab();
  lab.write('program/heddle-cni', 'program');
  rmSync(join(lab.places.configDir, '10-podnet.conflist'));
  await lab.run(['install', '--subnet', '10.46.0.0/24', '--subnet', 'fd46::/64']);
  const network = JSON.parse(lab.read('net.d/10-heddle.conflist'));
  network.plugins[0].ipam.dataDir = lab.places.reservationDir;
  mkdirSync(join(lab.root, 'other'));
  lab.write('other/10-heddle.conflist', network);
  const ran = await lab.inProcess(['run', 'heddle', '--', 'true'], { NETCONFPATH: join(lab.root, 'other') });
  assert.deepEqual(ran, { exitCode: 0, stdout: '', stderr: '' });
  return lab;
}

const FORWARDING = [
  'net.ipv4.ip_forward = 1, which others may rely on',
  'net.ipv6.conf.all.forwarding = 1, which others may rely on',
];

describe('heddle uninstall', () => {
  test('lists what stays in the kernel, and leaves it there', async () => {
    using lab = await usedLab();
    const left = ['bridge heddle0', 'table inet heddle', ...FORWARDING];
    const { exitCode, stdout } = await lab.run(['uninstall']);
    assert.equal(exitCode, 0);
    assert.ok(
      stdout.endsWith(`\nstays on this node:\n${left.map((line) => `  ${line}\n`).join('')}`),
      stdout,
    );
    assert.match(lab.host.run('ip', 'link', 'show', 'heddle0'), /heddle0/);
  });

  test('removes the bridge and the tables when told to', async () => {
    using lab = await usedLab();
    const purged = ['bridge heddle0', 'table inet heddle'];
    const dry = (await lab.json(['uninstall', '--purge', '--dry-run'])) as object;
    const done = (await lab.json(['uninstall', '--purge'])) as object;
    for (const answer of [dry, done]) assert.partialDeepStrictEqual(answer, { purged, left: FORWARDING });
    assert.doesNotMatch(lab.host.run('ip', 'link'), /heddle0/);
    assert.equal(lab.host.run('nft', 'list', 'ruleset').trim(), '');
  });

  test('leaves a bridge that somebody else has a link in', async () => {
    using lab = await usedLab();
    lab.host.run('ip', 'link', 'add', 'hdx0', 'master', 'heddle0', 'type', 'veth', 'peer', 'name', 'hdx1');
    const { left } = (await lab.json(['uninstall', '--purge'])) as { left: readonly string[] };
    assert.deepEqual(left, ['bridge heddle0, with hdx0 in it', ...FORWARDING]);
  });
});
