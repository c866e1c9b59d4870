/** Staged faults of syntax, encoding and file names. */
import { bridged } from './scene.ts';
import { one, type StagedCase } from './staged-case.ts';

const GOOD = JSON.stringify(bridged('10.1.0.0/16'), null, 2);

function utf16(text: string): Uint8Array {
  return Uint8Array.from([0xff, 0xfe, ...Buffer.from(text, 'utf16le')]);
}

/** One for each rule. */
export const SYNTAX_CASES: readonly StagedCase[] = [
  {
    rule: 'file/unreadable',
    bad: { files: { '10-pods.conflist': new Error('permission denied') } },
    at: '10-pods.conflist',
    good: { files: { '10-pods.conflist': GOOD, 'calico-kubeconfig': new Error('permission denied') } },
  },
  {
    rule: 'file/extension',
    bad: one(GOOD, {}, '10-pods.confList'),
    at: '10-pods.confList',
    good: {
      files: { '10-pods.conflist': GOOD, '10-pods.conflist.bak': GOOD, '05-a.conflist.cilium_bak': GOOD },
    },
  },
  {
    rule: 'encoding/byte-order-mark',
    bad: one(`\ufeff${GOOD}`),
    at: '10-pods.conflist:1:1',
    good: one(GOOD.replace('"pods"', '"pods", "_comment": "\ufeff"')),
  },
  { rule: 'encoding/utf-16', bad: one(utf16(GOOD)), at: ':1:1', good: one(GOOD) },
  {
    rule: 'encoding/damaged',
    bad: one(Uint8Array.from(Buffer.from(GOOD.replace('"pods"', '"pods", "_comment": "\xfc"'), 'latin1'))),
    at: ':3:',
    good: one(GOOD.replace('"pods"', '"pods", "_comment": "ü \ufffd"')),
  },
  {
    rule: 'encoding/carriage-returns',
    bad: one(GOOD.replaceAll('\n', '\r\n')),
    at: ':1:2',
    good: one(`${GOOD}\n`),
  },
  {
    rule: 'syntax/trailing-comma',
    bad: one(GOOD.replace('"10.1.0.0/16"', '"10.1.0.0/16",')),
    at: ':9:32',
    good: one(GOOD.replace('"pods"', '"pods", "_comment": "a, } and ,]"')),
  },
  {
    rule: 'syntax/comment',
    bad: one(GOOD.replace('"name"', '// ours\n  "name"')),
    at: ':3:3',
    good: one(GOOD.replace('"pods"', '"pods", "_comment": "// not one /* either */"')),
  },
  { rule: 'syntax/empty-file', bad: one(' \n'), at: '10-pods.conflist', good: one(GOOD) },
  { rule: 'syntax/truncated', bad: one(GOOD.slice(0, 100)), at: ':7:', good: one(`${GOOD}\n\n`) },
  {
    rule: 'syntax/invalid',
    bad: one(GOOD.replace('"1.0.0",', '"1.0.0"')),
    at: ':3:3',
    good: one(GOOD.replace('"pods"', '"pods", "_comment": "it\'s \\u0041 {"')),
  },
  { rule: 'syntax/not-an-object', bad: one(`[${GOOD}]`), at: ':1:1', good: one(`\n\n${GOOD}`) },
  {
    rule: 'syntax/duplicate-key',
    bad: one(GOOD.replace('"type": "bridge"', '"type": "bridge", "mtu": 1500, "MTU": 1400')),
    at: ':6:25',
    good: one({
      ...{ cniVersion: '1.0.0', name: 'pods' },
      plugins: [
        { type: 'bridge', mtu: 1500, ipam: { type: 'host-local', subnet: '10.1.0.0/16' } },
        { type: 'tuning', mtu: 1400, sysctl: { 'net.ipv4.conf.IFNAME.arp_filter': '1' } },
      ],
    }),
  },
];
