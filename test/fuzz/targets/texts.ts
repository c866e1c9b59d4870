/** Files and lines that others write, and values in them. */
import assert from 'node:assert/strict';
import { CniError, ConfigError, DecodeError } from '@heddle/cni';
import { parseConditions } from '@heddle/dataplane';
import { formatLock, LOG_RULES, parseLock, parseSilences, readLog, ruleRegistry } from '@heddle/doctor';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { formatTraceparent, parseTraceparent } from '../../../packages/agent/src/trace/trace-context.ts';
import { parseProfile } from '../../../packages/conformance/src/profile.ts';
import { joinWords, ruleMeaning, ruleTarget } from '../../../packages/dataplane/src/iptables/rule-text.ts';
import { parseTable } from '../../../packages/dataplane/src/iptables/table.ts';
import { formatGoDuration, parseGoDuration } from '../../../packages/dhcp/src/daemon/go-duration.ts';
import { decodeBytes } from '../../../packages/doctor/src/audit/model/file.ts';
import { parseSubnetEnv } from '../../../packages/plugins/src/flannel/subnet-env.ts';
import { parseResolvConf } from '../../../packages/plugins/src/host-local/resolv-conf.ts';
import { parseBackup } from '../../../packages/plugins/src/tuning/backup.ts';
import { compileRe2 } from '../../../packages/plugins/src/tuning/re2.ts';
import { jsonSeeds, type Target, textOf, textSeeds, valueUnless } from '../engine/target.ts';

const rules = ruleRegistry(LOG_RULES);

const iptables: Target = {
  name: 'iptables-save',
  shape: { of: 'text' },
  seeds: textSeeds(
    '*nat\n:PREROUTING ACCEPT [0:0]\n:CNI-DN-0123456789abcdef - [0:0]\n-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT\n-A X -s 10.0.0.0/8 ! -d 10.0.0.1/32 -p tcp -m multiport --dports 80,81 -m comment --comment "a \\"b\\" c" -j RETURN\nCOMMIT\n',
  ),
  run(input) {
    for (const { words } of parseTable(textOf(input)).rules) {
      ruleMeaning(words);
      ruleTarget(words);
      const line = valueUnless([ConfigError], () => joinWords(words));
      if (line === undefined) continue;
      // The words of a line are those that it was joined from.
      assert.deepEqual(parseTable(`-A X ${line}`).rules[0]?.words ?? [], words);
    }
  },
};

const addresses: Target = {
  name: 'addresses',
  shape: { of: 'text' },
  seeds: textSeeds(
    '10.1.2.3',
    'fd00::1',
    '::ffff:10.0.0.1',
    '1:2:3:4:5:6:7:8',
    '10.0.0.0/8',
    'fe80::/64',
    '02:00:00:00:00:01',
    '0200.0000.0001',
  ),
  run(input) {
    const text = textOf(input);
    const addr = Addr.tryParse(text);
    if (addr !== undefined) assert.ok(Addr.parse(String(addr)).equals(addr));
    const prefix = Prefix.tryParse(text);
    if (prefix !== undefined) assert.ok(Prefix.parse(String(prefix)).equals(prefix));
    const mac = Mac.tryParse(text);
    if (mac !== undefined) assert.ok(Mac.parse(String(mac)).equals(mac));
  },
};

/** See the file's comment. */
export const TEXT_TARGETS: readonly Target[] = [
  iptables,
  addresses,
  {
    name: 'conditions',
    shape: { of: 'text' },
    seeds: textSeeds(
      'ip daddr != 192.0.2.9',
      'ip saddr { 10.0.0.0/8, 192.0.2.1-192.0.2.9 } tcp dport 80-90',
      'iifname "eth0" oifname != eth1 meta mark 0x10 ct state { new, established }',
      'ip6 daddr fd00::/8 meta l4proto tcp udp sport > 1024',
    ),
    run(input) {
      for (const family of [4, 6] as const)
        valueUnless([ConfigError], () => parseConditions([textOf(input)], family));
    },
  },
  {
    name: 'log',
    shape: { of: 'text' },
    seeds: textSeeds(
      'E0101 kubelet: "Failed to create sandbox" err="plugin type=\\"bridge\\" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.1.0.1-10.1.0.254" pod="default/web"',
      'level=error msg="cni config uninitialized"\nkernel: nf_conntrack: table full, dropping packet\nfailed to find plugin "x" in path [/opt/cni/bin]',
    ),
    run: (input) => void readLog(textOf(input).split('\n'), { file: '-', rules }),
  },
  {
    name: 'lock',
    shape: { of: 'json' },
    seeds: jsonSeeds({
      ...{
        lockVersion: 1,
        network: 'n',
        kernel: ['veth'],
        files: [{ path: '/a', sha256: '00', network: 'n' }],
      },
      plugins: [{ type: 'bridge', path: '/b', sha256: '11', versions: ['1.1.0'] }],
      signature: { algorithm: 'ed25519', key: 'k', value: 'v' },
    }),
    run(input) {
      const lock = valueUnless([DecodeError, ConfigError], () => parseLock(textOf(input), 'lock'));
      if (lock === undefined) return;
      const text = formatLock(lock);
      assert.equal(formatLock(parseLock(text, 'lock')), text);
    },
  },
  {
    name: 'silences',
    shape: { of: 'text' },
    seeds: textSeeds('{"silence": [{"id": "network/none", "reason": "no", "where": "x"},]} // why'),
    run: (input) => void valueUnless([ConfigError], () => parseSilences(textOf(input), 'silences', rules)),
  },
  {
    name: 'conformance-profile',
    shape: { of: 'json' },
    seeds: jsonSeeds({ unclaimed: [{ check: 'gc', reason: 'keeps no state' }] }),
    run: (input) =>
      void valueUnless([ConfigError, DecodeError], () => parseProfile(textOf(input), 'p', ['gc'])),
  },
  {
    name: 'subnet-env',
    shape: { of: 'text' },
    seeds: textSeeds(
      'FLANNEL_NETWORK=10.1.0.0/16\nFLANNEL_SUBNET=10.1.2.1/24\nFLANNEL_IPV6_NETWORK=fd00::/48\nFLANNEL_IPV6_SUBNET=fd00::1/64\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n',
    ),
    run: (input) => void valueUnless([CniError], () => parseSubnetEnv(textOf(input), 'subnet.env')),
  },
  {
    name: 'resolv-conf',
    shape: { of: 'text' },
    seeds: textSeeds('# c\nnameserver 10.0.0.1\ndomain x\nsearch a b\noptions ndots:5\n'),
    run: (input) => void parseResolvConf(textOf(input)),
  },
  {
    name: 'tuning-backup',
    shape: { of: 'json' },
    seeds: jsonSeeds({ mac: '02:00:00:00:00:01', promisc: true, mtu: 1500, allmulti: false, txQLen: 1000 }),
    run: (input) => void parseBackup(textOf(input)),
  },
  {
    name: 're2',
    shape: { of: 'text' },
    seeds: textSeeds(
      '^net\\.ipv4\\.[[:alpha:]]+$',
      '(?i)a\\Q.*\\Eb{2,3}(?P<n>x)|\\pL\\x{41}\\z',
      '[^\\d_[:^space:]-]',
    ),
    run: (input) => void valueUnless([SyntaxError], () => compileRe2(textOf(input))),
  },
  {
    name: 'traceparent',
    shape: { of: 'text' },
    seeds: textSeeds(
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-x',
    ),
    run(input) {
      const read = parseTraceparent(textOf(input));
      if (read !== undefined) assert.deepEqual(parseTraceparent(formatTraceparent(read)), read);
    },
  },
  {
    name: 'go-duration',
    shape: { of: 'text' },
    seeds: textSeeds('1m30s', '-1.5h', '500ms', '.5µs', '0'),
    run(input) {
      const read = parseGoDuration(textOf(input));
      if (read !== undefined) formatGoDuration(read);
    },
  },
  {
    name: 'text-encoding',
    shape: { of: 'bytes' },
    seeds: textSeeds('{"a":1}', '\ufeff{}', '{\0}\0'),
    run: (input) => void decodeBytes(input),
  },
];
