import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ownerAlias } from '@heddle/cni/plugin';
import { CliLab, linkNamed } from '../testing/cli-lab.ts';

const LONG = '0123456789abcdef'.repeat(4);

function populated(): CliLab {
  const alias = ownerAlias({ network: 'podnet', containerID: 'c2', ifName: 'eth0' });
  const lab = new CliLab({ links: [linkNamed('lo'), linkNamed('veth2', alias)] });
  const entry = {
    kind: 'cniCacheV1',
    containerId: LONG,
    config: Buffer.from('{"name":"podnet","plugins":[{"type":"bridge"}]}').toString('base64'),
    ifName: 'eth0',
    networkName: 'podnet',
    netns: '/proc/self/ns/net',
    cniArgs: [
      ['K8S_POD_NAMESPACE', 'default'],
      ['K8S_POD_NAME', 'web'],
    ],
    result: { cniVersion: '1.0.0', ips: [{ address: '10.1.0.2/24' }] },
  };
  mkdirSync(`${lab.places.cacheDir}/results`);
  lab.write(`cache/results/podnet-${LONG}-eth0`, entry);
  mkdirSync(`${lab.places.reservationDir}/podnet`, { recursive: true });
  lab.write('cache/networks/podnet/10.1.0.9', 'c3\r\neth0');
  lab.write('cache/networks/podnet/last_reserved_ip.0', '10.1.0.9');
  // A file's time is finer than the clock's milliseconds: half a one later would make it two hours.
  lab.now = Date.now() + 3 * 3600 * 1000 + 1000;
  return lab;
}

describe('heddle ls', () => {
  test('says when there is nothing', async () => {
    using lab = new CliLab();
    assert.equal((await lab.run(['ls'])).stdout, 'no attachments\n');
    assert.deepEqual(await lab.json(['ls']), { attachments: [] });
  });

  test('lists what cache, kernel and reservations know', async () => {
    using lab = populated();
    const { stdout } = await lab.run(['ls']);
    assert.equal(
      stdout,
      'NETWORK   CONTAINER      INTERFACE   IPS           AGE   STATE\n' +
        'podnet    0123456789ab   eth0        10.1.0.2/24    3h   attached\n' +
        'podnet    c2             eth0        -               -   untracked\n' +
        'podnet    c3             eth0        10.1.0.9       3h   untracked\n',
    );
  });

  test('says more when asked to', async () => {
    using lab = populated();
    const { stdout } = await lab.run(['ls', '-o', 'wide']);
    assert.match(stdout, new RegExp(`${LONG} .*attached +/proc/self/ns/net +default/web +- +cache$`, 'm'));
    assert.match(stdout, /c2 .*untracked +- +- +veth2 +link$/m);
  });

  test('can be narrowed to a network, and to what is not well', async () => {
    using lab = populated();
    lab.write('net.d/10-other.conf', { cniVersion: '1.0.0', name: 'other', type: 'bridge' });
    assert.deepEqual(await lab.json(['ls', 'other']), { attachments: [] });
    const { stdout } = await lab.run(['ls', 'podnet', '--stale']);
    assert.deepEqual(
      stdout.match(/^podnet +\S+/gm)?.map((line) => line.split(/ +/)[1]),
      ['c2', 'c3'],
    );
  });

  test('says when there is no such network', async () => {
    using lab = populated();
    lab.write('net.d/10-other.conf', { cniVersion: '1.0.0', name: 'other', type: 'bridge' });
    const { exitCode, stderr } = await lab.run(['ls', 'otter']);
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /^heddle: no net configuration with name "otter" in .*\n {2}hint: did you mean "other"\?/,
    );
  });

  test('finds reservations where a network keeps them', async () => {
    using lab = populated();
    mkdirSync(`${lab.root}/elsewhere/other`, { recursive: true });
    lab.write('elsewhere/other/fd00::7', 'c7\r\nnet1');
    const ipam = { type: 'host-local', dataDir: `${lab.root}/elsewhere` };
    lab.write('net.d/10-other.conf', { cniVersion: '1.0.0', name: 'other', type: 'bridge', ipam });
    const { stdout } = await lab.run(['ls', 'other']);
    assert.match(stdout, /^other +c7 +net1 +fd00::7 /m);
  });

  test('gives programs every member, known or not', async () => {
    using lab = populated();
    const { attachments } = (await lab.json(['ls'])) as { attachments: Record<string, unknown>[] };
    const members = 'network containerID ifName state netns ips addedAt link pod knownBy'.split(' ');
    for (const each of attachments) assert.deepEqual(Object.keys(each), members);
    assert.match(String(attachments[0]?.['addedAt']), /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(attachments[0]?.['pod'], { namespace: 'default', name: 'web', uid: null });
    assert.equal(attachments[1]?.['addedAt'], null);
  });
});
