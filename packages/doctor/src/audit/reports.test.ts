/** Configurations of public bug reports: each gives the finding that would have spared the report. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { audit } from './audit.ts';
import {
  bridged,
  DIRECTORY,
  findingsIn,
  installedAs,
  list,
  memoryFiles,
  type Scene,
} from './testing/scene.ts';

const SUBNET = { type: 'host-local', subnet: '192.0.2.0/24' };
const BRIDGE = { type: 'bridge', bridge: 'tbr0', isGateway: true, ipam: SUBNET };
const PORTMAP = { type: 'portmap', capabilities: { portMappings: true } };
const TRAILING =
  '{"cniVersion":"1.0.0","name":"n1","type":"bridge","ipam":{"type":"host-local","subnet":"192.0.2.0/24",}}';

interface Report {
  readonly report: string;
  readonly scene: Scene;
  /** `rule file:line:column`, or a part of that, for each finding that must be there. */
  readonly finds: readonly string[];
  /** What the findings must say among other things. */
  readonly says?: RegExp;
}

const limits = (more: object): Scene => ({
  files: { 'a.conflist': list(BRIDGE, { type: 'bandwidth', ...more }) },
});
const ranges = (more: object): Scene => ({
  files: { 'a.conflist': bridged({ type: 'host-local', ...more }) },
});

const REPORTS: readonly Report[] = [
  {
    report: 'kubernetes/kubernetes#53536: a comma too many, and what is in force because of it',
    scene: { files: { '10-a.conf': TRAILING, '20-b.conflist': list(BRIDGE) } },
    finds: ['syntax/trailing-comma 10-a.conf:1:102'],
    says: /in force for CRI-O: 20-b\.conflist/,
  },
  {
    report: 'containerd/containerd#11076: a list in a file for one plugin',
    scene: { files: { '10-x.conf': { cniVersion: '1.0.0', name: 'n2', plugins: [{ type: 'loopback' }] } } },
    finds: ['contract/list-in-conf 10-x.conf:1:'],
    says: /Rename it to 10-x\.conflist/,
  },
  {
    report: 'containerd/cri#889: one network name in a .conf and a .conflist',
    scene: {
      files: {
        '00-w.conflist': { ...list(BRIDGE, PORTMAP), name: 'w' },
        '10-w.conf': { cniVersion: '1.0.0', name: 'w', ...BRIDGE },
      },
    },
    finds: ['selection/duplicate-name 10-w.conf:1:'],
    says: /00-w\.conflist sorts first and is in force/,
  },
  {
    report: 'k8snetworkplumbingwg/multus-cni#1499: two files, of which the first counts',
    scene: {
      files: {
        '05-a.conflist': { ...list(BRIDGE), name: 'a' },
        '10-b.conflist': { ...bridged('198.51.100.0/24'), name: 'b' },
      },
    },
    finds: ['selection/which-file /etc/cni/net.d'],
    says: /the first by file name: 05-a\.conflist/,
  },
  {
    report: 'podman-container-tools/podman#11590: one name in two lists',
    scene: {
      files: {
        '87-p.conflist': { ...bridged('192.0.2.0/24'), name: 'p' },
        '88-p.conflist': { ...bridged('198.51.100.0/24'), name: 'p' },
      },
    },
    finds: ['selection/duplicate-name 88-p.conflist:1:'],
    says: /87-p\.conflist has the network name "p", too/,
  },
  {
    report: 'podman-container-tools/podman#21511: newer than the installed plugins',
    scene: {
      files: { 'a.conflist': list(BRIDGE, PORTMAP) },
      installed: installedAs(
        Object.fromEntries(
          ['bridge', 'portmap', 'host-local'].map((type) => [
            type,
            { path: `/usr/lib/cni/${type}`, obstacles: [], versions: ['0.3.1', '0.4.0'] },
          ]),
        ),
      ),
    },
    finds: ['version/unsupported-by-plugin a.conflist:1:'],
    says: /\/usr\/lib\/cni\/portmap speaks 0\.3\.1, 0\.4\.0|Set "cniVersion" to "0\.4\.0"/,
  },
  {
    report: 'containernetworking/cni#679: a name that is a path',
    scene: { files: { 'a.conflist': { ...list(BRIDGE), name: '../../tmp/x' } } },
    finds: ['contract/name-characters a.conflist:1:'],
  },
  {
    report: 'aws/amazon-vpc-cni-k8s#1248: the log on stdout',
    scene: { files: { 'a.conflist': list({ type: 'aws-cni', pluginLogFile: 'stdout' }) } },
    finds: ['misuse/log-to-stdout a.conflist:1:'],
  },
  {
    report: 'cri-o/cri-o#1301: a broken link in the plugin directory',
    scene: {
      files: { 'a.conflist': list({ type: 'bridge' }) },
      installed: installedAs({ bridge: { obstacles: ['/P1/bridge is a broken link (to /nonexistent)'] } }),
    },
    finds: ['chain/plugin-not-installed a.conflist:1:'],
    says: /broken link \(to \/nonexistent\)/,
  },
  {
    report: 'kubernetes/kubernetes#62054: no plugin directory',
    scene: {
      files: { 'a.conflist': list({ type: 'bridge' }) },
      installed: { directories: [], find: () => ({ obstacles: [] }) },
    },
    finds: ['chain/plugin-not-installed a.conflist:1:'],
  },
  {
    report: 'containernetworking/plugins#908: /31',
    scene: ranges({ subnet: '192.0.2.0/31' }),
    finds: ['address/subnet-too-small'],
  },
  {
    report: 'containernetworking/plugins#1295: bounds at the broadcast address',
    scene: ranges({ subnet: '192.0.2.0/24', rangeStart: '192.0.2.255', rangeEnd: '192.0.2.255' }),
    finds: ['address/range-boundary'],
  },
  {
    report: 'containernetworking/plugins#1295: a start at the network address',
    scene: ranges({ subnet: '192.0.2.0/24', rangeStart: '192.0.2.0' }),
    finds: ['address/range-boundary'],
  },
  {
    report: 'containernetworking/plugins#1295: a start above the end that is not given',
    scene: ranges({ subnet: '192.0.2.0/24', rangeStart: '192.0.2.255' }),
    finds: ['address/range-reversed'],
  },
  {
    report: 'containernetworking/plugins#1295: a reversed range',
    scene: ranges({ subnet: '192.0.2.0/24', rangeStart: '192.0.2.20', rangeEnd: '192.0.2.10' }),
    finds: ['address/range-reversed'],
  },
  {
    report: 'containernetworking/plugins#1295: an end before the first host',
    scene: ranges({ subnet: '2001:db8::/64', rangeEnd: '2001:db8::' }),
    finds: ['address/range-reversed'],
  },
  {
    report: 'containernetworking/plugins#233: an IPv4 gateway elsewhere',
    scene: ranges({ subnet: '192.0.2.0/24', gateway: '198.51.100.1', routes: [{ dst: '0.0.0.0/0' }] }),
    finds: ['address/gateway-outside'],
  },
  {
    report: 'containernetworking/plugins#393: a negative MTU',
    scene: { files: { 'a.conflist': list({ type: 'macvlan', master: 'd0', mtu: -1, ipam: SUBNET }) } },
    finds: ['mtu/too-small'],
  },
  {
    report: 'containernetworking/plugins#1181: a trunk that ends before it begins',
    scene: { files: { 'a.conflist': list({ type: 'bridge', vlanTrunk: [{ minID: 20, maxID: 10 }] }) } },
    finds: ['schema/invalid-value'],
    says: /minID is greater than maxID/,
  },
  {
    report: 'podman-container-tools/podman#17955: a static address without a prefix length',
    scene: { files: { 'a.conflist': bridged({ type: 'static', addresses: [{ address: '192.0.2.1' }] }) } },
    finds: ['address/static-without-prefix'],
  },
  {
    report: 'containernetworking/plugins#1115: conditions of the other backend',
    scene: {
      files: {
        'a.conflist': list(BRIDGE, {
          ...PORTMAP,
          backend: 'nftables',
          conditionsV4: ['!', '-d', '192.0.2.9'],
        }),
      },
    },
    finds: ['misuse/portmap-conditions'],
  },
  {
    report: 'containernetworking/plugins#779: a sysctl that leads out',
    scene: {
      files: {
        'a.conflist': list(BRIDGE, {
          type: 'tuning',
          sysctl: { 'net.ipv4.conf/../../kernel/hostname': '1', 'kernel.hostname': '1' },
        }),
      },
    },
    finds: ['misuse/sysctl-outside-network', 'misuse/sysctl-outside-network'],
  },
  {
    report: 'kubernetes/kubernetes#90838: a burst of minutes',
    scene: limits({ ingressRate: 10_000_000, ingressBurst: 2_147_483_648 }),
    finds: ['bandwidth/burst-size'],
    says: /holds 215 seconds/,
  },
  {
    report: 'cri-o/cri-o#4348: a burst of 4 GiB',
    scene: limits({ egressRate: 4e10, egressBurst: 34_359_738_368 }),
    finds: ['bandwidth/burst-too-large'],
  },
  {
    report: 'weaveworks/weave#3787: nothing to shape on macvlan',
    scene: {
      files: {
        'a.conflist': list(
          { type: 'macvlan', master: 'eth0', ipam: SUBNET },
          { type: 'bandwidth', egressRate: 1e6, egressBurst: 1e6 },
        ),
      },
    },
    finds: ['chain/no-host-side'],
  },
];

describe('the configuration of the report', () => {
  for (const { report, scene, finds, says = /./ } of REPORTS) {
    test(report, () => {
      const findings = findingsIn(scene);
      const told = findings.map(({ id, place }) => {
        const at = [place?.file.replace('/etc/cni/net.d/', ''), place?.line, place?.column];
        return `${id} ${at.filter((part) => part !== undefined).join(':')}`;
      });
      for (const [index, wanted] of finds.entries()) {
        const matching = told.filter((line) => line.startsWith(wanted));
        assert.ok(
          matching.length > finds.slice(0, index).filter((each) => each === wanted).length,
          `${wanted} in\n${told.join('\n')}`,
        );
      }
      const own = findings.filter(({ id }) => finds.some((wanted) => wanted.startsWith(id)));
      assert.match(
        own
          .map(({ what, consequence, remedy, evidence = [] }) =>
            [what, consequence, remedy, ...evidence].join('\n'),
          )
          .join('\n'),
        says,
      );
    });
  }

  test('containernetworking/plugins#233: an IPv6 gateway elsewhere, or a link-local one, is worth a note at most', () => {
    for (const gateway of ['2001:db8:5::1', 'fe80::1']) {
      const ipam = { type: 'host-local', subnet: '2001:db8:5:333::/64', gateway, routes: [{ dst: '::/0' }] };
      const findings = findingsIn({ files: { 'a.conflist': bridged(ipam) } });
      assert.deepEqual(
        findings.map(({ id, severity }) => `${severity} ${id}`),
        ['note address/gateway-outside'],
      );
    }
  });

  test('a file that stops in the middle is one finding, wherever it stops', () => {
    const whole = JSON.stringify(list(BRIDGE, PORTMAP), null, 2);
    for (let length = 1; length < whole.length; length++) {
      const files = { 'a.conflist': whole.slice(0, length) };
      // That there is no network then is said of the directory.
      const told = findingsIn({ files }).filter(({ id }) => id !== 'selection/no-network');
      assert.equal(told.length, 1, `${whole.slice(0, length)}\n${told.map(({ id }) => id).join()}`);
      // Half a word, such as "tru", is told as what it is.
      assert.match(told[0]?.id ?? '', /^syntax\/(truncated|invalid)$/);
      assert.doesNotMatch(told[0]?.what ?? '', /middle.*middle/);
    }
  });

  test('many networks with one subnet are one finding, with all of them', () => {
    const files = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [
        `${index}.conflist`,
        { ...list({ ...BRIDGE, bridge: `br${index}` }), name: `n${index}` },
      ]),
    );
    const found = findingsIn({ files }).filter(({ id }) => id === 'overlap/networks');
    assert.deepEqual(
      found.map(({ what, evidence }) => [what, evidence?.length]),
      [['120 networks share addresses of 192.0.2.0/24', 120]],
    );
    const apart = {
      ...files,
      'z.conflist': { ...list({ ...BRIDGE, ipam: { ...SUBNET, subnet: '192.0.3.0/24' } }), name: 'z' },
    };
    assert.doesNotMatch(
      String(findingsIn({ files: apart }).find(({ id }) => id === 'overlap/networks')?.evidence),
      /z\.conflist/,
    );
  });

  test('podman-container-tools/podman#9041: a file that vanishes is passed over', () => {
    const files = memoryFiles({
      'a.conflist': list(BRIDGE),
      'b.conflist': { ...bridged('198.51.100.0/24'), name: 'b' },
    });
    const { findings, fileCount } = audit({
      paths: [DIRECTORY],
      files: { ...files, read: (path) => (path.endsWith('/a.conflist') ? 'gone' : files.read(path)) },
    });
    assert.deepEqual({ findings, fileCount }, { findings: [], fileCount: 1 });
  });
});
