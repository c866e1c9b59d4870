/** Faults of files and configurations on the node, staged for real: the right cause comes first. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DoctorLab, OWN } from './doctor-lab.ts';

const KUBERNETES = {
  args: [
    ['IgnoreUnknown', '1'],
    ['K8S_POD_NAMESPACE', 'default'],
    ['K8S_POD_NAME', 'web'],
  ] as [string, string][],
};

describe('configurations', () => {
  test('two lists of one name', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    const other = { type: 'bridge', bridge: 'cni1', ipam: { type: 'host-local', subnet: '10.46.0.0/24' } };
    lab.write('20-other.conflist', { cniVersion: '1.0.0', name: 'podnet', plugins: [other] });
    const [first] = await lab.findings();
    assert.equal(first?.id, 'selection/duplicate-name');
  });

  test('a file of another CNI that sorts first and cannot work', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    lab.write('05-flannel.conflist', { cniVersion: '1.0.0', name: 'cbr0', plugins: [{ type: 'flannel' }] });
    const [first] = await lab.findings();
    assert.equal(first?.id, 'network/displaced');
    assert.match(first?.what ?? '', /05-flannel\.conflist sorts before .*10-podnet\.conflist.*subnet\.env/);
    assert.match(first?.commands?.join() ?? '', /^mv (\S*05-flannel\.conflist) \1\.disabled$/);
  });

  test('a typing error in the version', async () => {
    using lab = new DoctorLab();
    lab.podnet({ top: {} });
    lab.write('10-podnet.conflist', '{"cniVersion":"1.O.0","name":"podnet","plugins":[{"type":"bridge"}]}');
    const [first] = await lab.findings();
    assert.equal(first?.id, 'version/malformed');
  });

  test('a bridge that an earlier configuration has made, and what is said to mend it does', async () => {
    using lab = new DoctorLab();
    lab.run('ip link add cni0 type bridge');
    lab.run('ip address add 10.44.0.1/24 dev cni0');
    const list = lab.podnet();
    await assert.rejects(lab.attach(list, 'c1'), /already has an IP address different from 10\.45\.0\.1\/24/);
    const [first] = await lab.findings();
    assert.equal(first?.id, 'network/bridge-address');
    assert.match(
      first?.what ?? '',
      /cni0 has the address 10\.44\.0\.1\/24, and podnet wants 10\.45\.0\.1\/24/,
    );
    for (const command of first?.commands ?? []) lab.run(command);
    await lab.attach(list, 'c2');
    assert.deepEqual(await lab.findings(), []);
  });

  test('a bridge with the subnet that flannel had before', async () => {
    using lab = new DoctorLab();
    lab.write('10-flannel.conflist', { cniVersion: '1.0.0', name: 'cbr0', plugins: [{ type: 'flannel' }] });
    lab.place(
      '/run/flannel/subnet.env',
      'FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.1.1/24\nFLANNEL_MTU=1450\n',
    );
    lab.run('ip link add cni0 type bridge');
    lab.run('ip address add 10.244.1.1/24 dev cni0');
    assert.deepEqual(await lab.findings(), []);
    lab.run('ip address del 10.244.1.1/24 dev cni0');
    lab.run('ip address add 10.244.7.1/24 dev cni0');
    const [first] = await lab.findings();
    assert.equal(first?.id, 'network/bridge-address');
    assert.match(
      first?.what ?? '',
      /cni0 has the address 10\.244\.7\.1\/24, and cbr0 wants 10\.244\.1\.1\/24/,
    );
  });

  test('a directory without any', async () => {
    using lab = new DoctorLab();
    mkdirSync(lab.configDir);
    const [first] = await lab.findings();
    assert.equal(first?.id, 'network/none');
  });

  test('one that the runtime did not take up', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet();
    await lab.attach(list, 'c1');
    lab.podnet({ bridge: { mtu: 1450 } });
    // As if the change had been made an hour before the attachment.
    const file = join(lab.configDir, '10-podnet.conflist');
    const findings = await lab.findings({}, { changed: new Map([[file, Date.now() - 3_600_000]]) });
    assert.equal(findings[0]?.id, 'network/not-loaded');
  });
});

describe('files', () => {
  test('a cache directory without permissions', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    chmodSync(lab.cacheDir, 0o000);
    const [first] = await lab.findings();
    assert.equal(first?.id, 'directory/unusable');
    assert.match(first?.what ?? '', /cache .*the runtime's cache.* cannot be written to/);
  });

  test('a data directory that is mounted read-only', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'readonly', lab.reservationDir]);
    try {
      const [first] = await lab.findings();
      assert.equal(first?.id, 'directory/unusable');
      assert.match(first?.what ?? '', /read-only/);
      assert.match(first?.remedy ?? '', /mount .* read-write/);
    } finally {
      execFileSync('umount', [lab.reservationDir]);
    }
  });

  test('a kubeconfig without permissions, one that is not there, and one that everybody can read', async () => {
    using lab = new DoctorLab();
    const kubeconfig = join(lab.directory, 'calico-kubeconfig');
    lab.place('/var/lib/calico/nodename', 'node1');
    lab.stub('calico', `#!/bin/sh\necho '{"cniVersion":"0.3.1","supportedVersions":["0.3.1"]}'\n`);
    const plugin = {
      type: 'calico',
      kubernetes: { kubeconfig },
      ipam: { type: 'host-local', subnet: '10.46.0.0/24' },
    };
    lab.write('10-calico.conflist', { cniVersion: '0.3.1', name: 'k8s', plugins: [plugin] });
    assert.match(
      (await lab.findings())[0]?.what ?? '',
      /calico cannot read .*calico-kubeconfig: it is not there/,
    );
    mkdirSync(kubeconfig);
    assert.match((await lab.findings())[0]?.what ?? '', /cannot read .*: it is no file/);
    rmdirSync(kubeconfig);
    writeFileSync(kubeconfig, '', { mode: 0o600 });
    assert.match((await lab.findings())[0]?.what ?? '', /cannot read .*: it is empty/);
    writeFileSync(kubeconfig, 'apiVersion: v1\nkind: Config\n');
    for (const [mode, id] of [
      [0o000, 'directory/credentials'],
      [0o644, 'directory/exposed'],
    ] as const) {
      chmodSync(kubeconfig, mode);
      assert.equal((await lab.findings())[0]?.id, id);
    }
    chmodSync(kubeconfig, 0o600);
    assert.deepEqual(await lab.findings(), []);
  });

  test("tuning's list of parameters, closed to others or to the user who asks (containerd#8020)", async () => {
    using lab = new DoctorLab();
    const tuning = { type: 'tuning', sysctl: { 'net.core.somaxconn': '500' } };
    lab.write('10-tuned.conflist', { cniVersion: '1.0.0', name: 'tuned', plugins: [tuning] });
    const told = async () => (await lab.findings()).filter(({ id }) => id === 'directory/allow-list');
    assert.deepEqual(await told(), []);
    lab.place('/etc/cni/tuning/allowlist.conf', '^net\\.core\\.somaxconn$\n');
    assert.deepEqual(await told(), []);
    const parent = join(lab.directory, 'root/etc/cni');
    chmodSync(parent, 0o700);
    const [closed] = await told();
    assert.equal(closed?.severity, 'warning');
    assert.match(closed?.what ?? '', /^\/etc\/cni is closed to others/);
    assert.deepEqual(closed?.commands, ['chmod 755 /etc/cni']);
    chmodSync(parent, 0o755);
    chmodSync(join(parent, 'tuning/allowlist.conf'), 0o600);
    assert.match((await told())[0]?.commands?.join() ?? '', /^chmod 644 /);
  });

  test('denials of AppArmor and SELinux in the log of the kernel', async () => {
    for (const line of [
      'audit: type=1400 audit(1): apparmor="DENIED" operation="open" profile="cri-containerd" name="/etc/cni/net.d/" comm="bridge"',
      'audit: type=1400 audit(1): apparmor="DENIED" operation="file_lock" profile="p" name="/run/xtables.lock" comm="portmap"',
      'audit: type=1400 audit(1): avc:  denied  { execute } for pid=9 comm="containerd" path="/opt/cni/bin/bridge"',
    ]) {
      using lab = new DoctorLab();
      lab.podnet();
      lab.kernelLog.push('something else', line);
      const [first] = await lab.findings();
      assert.equal(first?.id, 'directory/denied');
      assert.ok(first?.evidence?.join().includes(line));
      assert.match(first?.what ?? '', /, just now$/);
      lab.later = 7_200_000;
      const [old] = await lab.findings();
      assert.equal(old?.severity, 'note');
      assert.match(old?.what ?? '', /, 2 hours ago$/);
    }
  });
});

describe('addresses', () => {
  test('a pool that is used up', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet({
      ipam: { ranges: [[{ subnet: '10.45.0.0/29' }]], routes: [{ dst: '0.0.0.0/0' }] },
    });
    for (let number = 1; number <= 5; number++) await lab.attach(list, `c${number}`);
    await assert.rejects(lab.attach(list, 'c6'), /no IP addresses available/);
    const [first] = await lab.findings();
    assert.equal(first?.id, 'pool/exhausted');
    assert.match(first?.evidence?.join() ?? '', /5 of 5 held/);
  });

  test('one that will be soon, with the time that is left', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet({
      ipam: { ranges: [[{ subnet: '10.45.0.0/28' }]], routes: [{ dst: '0.0.0.0/0' }] },
    });
    for (let number = 1; number <= 12; number++) await lab.attach(list, `c${number}`);
    const findings = await lab.findings();
    assert.deepEqual(
      findings.map(({ id }) => id),
      ['pool/low'],
    );
    assert.match(findings[0]?.evidence?.join() ?? '', /12 in the last hour: used up in about 5 minutes/);
  });

  test('reservations from before a reboot: the namespaces are gone, the files are there', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet({
      ipam: { ranges: [[{ subnet: `${OWN.v4}.0/24` }], [{ subnet: `${OWN.v6}:/64` }]] },
    });
    const pods = [await lab.attach(list, `c1-${process.pid}`), await lab.attach(list, `c2-${process.pid}`)];
    for (const pod of pods) await lab.bury(pod);
    assert.deepEqual(
      (await lab.findings()).map(({ id }) => id),
      ['attachment/gone'],
      'a young reservation may be of somebody who is just being attached',
    );
    lab.later = 120_000;
    const [first] = await lab.findings();
    assert.equal(first?.id, 'pool/leaked');
    assert.match(first?.what ?? '', /4 addresses of podnet are held for containers that are gone/);
  });

  test('a pool that was used up just now: it is said when leaks can be told', async () => {
    using lab = new DoctorLab();
    lab.podnet({ ipam: { ranges: [[{ subnet: `${OWN.v4}.0/29` }]] } });
    const directory = join(lab.reservationDir, 'podnet');
    mkdirSync(directory, { recursive: true });
    for (let host = 2; host < 7; host++)
      writeFileSync(join(directory, `${OWN.v4}.${host}`), `p${host}\r\neth0`);
    const [first] = await lab.findings();
    assert.equal(first?.id, 'pool/exhausted');
    assert.match(first?.evidence?.join() ?? '', /5 without a container are less than a minute old/);
  });

  test('a pipe among the configurations is told of, and not waited for', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    lab.run('mkfifo', join(lab.configDir, '20-pipe.conflist'));
    const [first] = await lab.findings();
    assert.equal(first?.id, 'file/unreadable');
  });

  test('an address in use that nobody holds', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet();
    await lab.attach(list, 'c1');
    rmSync(join(lab.reservationDir, 'podnet/10.45.0.2'));
    const [first] = await lab.findings();
    assert.equal(first?.id, 'pool/unreserved');
    assert.match(first?.what ?? '', /10\.45\.0\.2 is in use, and not reserved/);
  });
});

describe('what is promised and not done', () => {
  test('no engine for policies', async () => {
    using lab = new DoctorLab();
    await lab.attach(lab.podnet(), 'c1', KUBERNETES);
    const findings = await lab.findings();
    assert.deepEqual(
      findings.map(({ id, severity }) => [id, severity]),
      [['policy/nobody', 'note']],
    );
    lab.run('nft add table inet kube-network-policies');
    assert.deepEqual(await lab.findings(), []);
  });

  test('DNS servers that no runtime applies', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet({ bridge: { dns: { nameservers: ['10.96.0.10'] } } });
    await lab.attach(list, 'c1', KUBERNETES);
    lab.run('nft add table inet kube-network-policies');
    const [first] = await lab.findings();
    assert.equal(first?.id, 'result/dns-not-applied');
    assert.match(first?.what ?? '', /10\.96\.0\.10/);
  });
});

describe('what others have left', () => {
  /** Of each: a link, a chain, a table where it makes one, and a file. */
  const OTHERS: readonly (readonly [
    project: string,
    link: string,
    chain: string,
    table: string,
    file: string,
  ])[] = [
    ['Flannel', 'flannel.1', 'FLANNEL-FWD', 'ip flannel-ipv4', '/run/flannel/subnet.env'],
    ['Calico', 'cali0123456789a', 'cali-FORWARD', 'ip calico', '/var/lib/calico/nodename'],
    ['Cilium', 'cilium_vxlan', 'CILIUM_FORWARD', '', '/var/run/cilium/state/1'],
    ['Weave Net', 'weave', 'WEAVE-NPC', '', '/var/lib/weave/weave.db'],
    [
      'kube-router',
      'kube-bridge',
      'KUBE-ROUTER-INPUT',
      'inet kube-router',
      '/var/lib/kube-router/kubeconfig',
    ],
    ['Antrea', 'antrea-gw0', 'ANTREA-FORWARD', 'ip antrea', '/var/run/antrea/cni.sock'],
  ];

  test('links, chains, tables and files of CNIs that are not configured', async () => {
    using lab = new DoctorLab();
    await lab.attach(lab.podnet(), 'c1');
    lab.run('nft add table ip filter');
    for (const [, link, chain, table, file] of OTHERS) {
      lab.run(`ip link add ${link} type bridge`);
      lab.run(`nft add chain ip filter ${chain}`);
      if (table !== '') lab.run(`nft add table ${table}`);
      lab.place(file, '');
    }
    const findings = await lab.findings();
    assert.deepEqual(
      findings.map(({ id, severity, subject }) => [id, severity, subject]),
      OTHERS.map(([project]) => ['leftover/cni', 'warning', project]).toSorted(),
    );
    for (const [project, ...traces] of OTHERS) {
      const { evidence = [] } = findings.find(({ subject }) => subject === project) ?? {};
      const [link = '', chain = '', table = '', file = ''] = traces;
      const wanted = [link, chain, table, file.split('/').slice(0, 4).join('/')];
      assert.deepEqual(
        wanted.filter((each) => !evidence.join('\n').includes(each)),
        [],
        project,
      );
    }
  });

  test('of a CNI that is configured nothing is left over, and files alone are worth a note', async () => {
    using lab = new DoctorLab();
    await lab.attach(lab.podnet(), 'c1');
    lab.place('/var/lib/weave/weave.db', '');
    assert.deepEqual(
      (await lab.findings()).map(({ id, severity }) => [id, severity]),
      [['leftover/cni', 'note']],
    );
    lab.write('20-weave.conflist', { cniVersion: '1.0.0', name: 'weave', plugins: [{ type: 'weave-net' }] });
    assert.ok((await lab.findings()).every(({ id }) => id !== 'leftover/cni'));
  });

  test('pairs of links that lead nowhere', async () => {
    using lab = new DoctorLab();
    await lab.attach(lab.podnet(), 'c1');
    lab.run('ip link add vethdeadbeef type veth peer name vethdeadbee2');
    const findings = await lab.findings();
    assert.deepEqual(
      findings.map(({ id, what }) => [id, what]),
      [['leftover/veth', '1 pair of links has both ends on the node, and no container']],
    );
  });

  test('a published port of a container that is gone', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet({ ipam: { ranges: [[{ subnet: `${OWN.v4}.0/24` }]] } });
    const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }];
    const pod = await lab.attach(list, 'c1', { capabilityArgs: { portMappings } });
    await lab.bury(pod);
    const [first] = await lab.findings();
    assert.equal(first?.id, 'port/stale');
    assert.ok(first?.what.includes(`sends packets to ${OWN.v4}.2, which no container`), first?.what);
  });
});
