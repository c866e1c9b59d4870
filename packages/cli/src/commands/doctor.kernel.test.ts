import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { TestNetns } from '@heddle/plugins/testing';
import { KernelLab } from '../testing/kernel-lab.ts';

/** A machine with one attachment, on which plugins answer VERSION. */
async function machine(): Promise<KernelLab> {
  const lab = new KernelLab();
  for (const type of ['bridge', 'host-local', 'portmap'])
    lab.stub(type, `echo '{"cniVersion":"1.1.0","supportedVersions":["1.0.0","1.1.0"]}'`);
  lab.host.skipAddressDetection();
  lab.host.run('sh', '-c', 'sysctl -qw net.bridge.bridge-nf-call-iptables=0 2> /dev/null || true');
  return lab;
}

describe('heddle doctor', () => {
  test('finds nothing where nothing is wrong, and ends with 0', async () => {
    using lab = await machine();
    const { exitCode, stdout, stderr } = await lab.run(['doctor']);
    assert.deepEqual(
      { exitCode, stdout, stderr },
      { exitCode: 0, stdout: 'nothing found (1 network, 0 attachments)\n', stderr: '' },
    );
  });

  test("follows a container's packets hop by hop", async () => {
    using lab = await machine();
    using pod = new TestNetns();
    pod.skipAddressDetection();
    const added = await lab.inProcess(['add', 'podnet', pod.path, '--container-id', 'web']);
    assert.equal(added.exitCode, 0, added.stderr);
    const { exitCode, stdout } = await lab.run(['doctor', 'web']);
    assert.match(
      stdout,
      /^web eth0 on podnet, IPv4\n {2}ok {3}namespace {2}eth0 has 10\.45\.0\.2\n {2}ok {3}gateway {4}10\.45\.0\.1 answers\n/,
    );
    assert.match(stdout, /^web eth0 on podnet, IPv6\n/m);
    assert.equal(exitCode, 0, stdout);
    pod.run('ip route del default');
    const broken = await lab.run(['doctor', 'web']);
    assert.equal(broken.exitCode, 5);
    assert.match(
      broken.stdout,
      /error the route to 0\.0\.0\.0\/0 is gone from the container \[attachment\/no-route\]/,
    );
  });

  test('tells of a plugin that Podman finds and containerd does not', async () => {
    using lab = await machine();
    const distribution = join(lab.root, 'other-bin');
    lab.write(
      'containers.conf',
      `cni_plugin_dirs = ["${lab.places.pluginDir}", "${distribution}"]\nnetwork_backend = "cni"\n`,
    );
    renameSync(join(lab.places.pluginDir, 'portmap'), join(distribution, 'portmap'));
    assert.equal((await lab.run(['doctor'])).stdout, 'nothing found (1 network, 0 attachments)\n');
    lab.write('config.toml', 'version = 3\n');
    for (const command of ['doctor', 'audit']) {
      const { stdout } = await lab.run([command]);
      assert.match(stdout, /containerd looks for plugins in \S+\/bin only, and there is no portmap/);
      assert.match(stdout, /1 error/);
    }
    lab.write('config.toml', `version = 3\nbin_dirs = ["${lab.places.pluginDir}", "${distribution}"]\n`);
    assert.equal((await lab.run(['doctor'])).exitCode, 0);
  });

  test('refuses a container that there is not, and more than one', async () => {
    using lab = await machine();
    const absent = await lab.run(['doctor', 'web']);
    assert.equal(absent.exitCode, 1);
    assert.match(absent.stderr, /doctor web: no attachment of such a container, namespace or pod/);
    assert.equal((await lab.run(['doctor', 'web', 'db'])).exitCode, 2);
  });

  test('frees nothing where nothing is leaked', async () => {
    using lab = await machine();
    const { exitCode, stdout } = await lab.run(['doctor', '--fix']);
    assert.deepEqual([exitCode, stdout.split('\n')[0]], [0, 'freed nothing']);
  });

  test('prints JSON with the walks and what was freed', async () => {
    using lab = await machine();
    const report = (await lab.json(['doctor', '--fix', '--dry-run'])) as Record<string, unknown>;
    assert.deepEqual(report, {
      ...{ findings: [], silenced: [], walks: [], freed: [] },
      checked: '1 network, 0 attachments',
    });
  });

  test('explains a log, and ends with what it found', async () => {
    using lab = await machine();
    const file = lab.write('kubelet.log', 'x\nfailed to find plugin "bridge" in path [/opt/cni/bin]\n');
    const { exitCode, stdout } = await lab.run(['doctor', 'logs', file]);
    assert.equal(exitCode, 5);
    assert.match(
      stdout,
      /error 2 the plugin bridge is not installed in \/opt\/cni\/bin {1}\[program\/missing\]/,
    );
    assert.match(stdout, /1 error \(2 lines\)/);
    const absent = await lab.run(['doctor', 'logs', `${file}.1`]);
    assert.deepEqual([absent.exitCode, absent.stdout], [1, '']);
    assert.match(absent.stderr, /cannot read .*kubelet\.log\.1/);
    assert.equal((await lab.run(['doctor', 'logs'])).exitCode, 2);
  });

  test('lists and explains its rules', async () => {
    using lab = await machine();
    assert.match((await lab.run(['doctor', 'rules'])).stdout, /^firewall\/drops +error/m);
    assert.match(
      (await lab.run(['doctor', 'rules', 'log/port-taken'])).stdout,
      /^log\/port-taken: A host port is taken/,
    );
    const absent = await lab.run(['doctor', 'rules', 'firewall/drop']);
    assert.match(absent.stderr, /did you mean "firewall\/drops"\?/);
  });
});
