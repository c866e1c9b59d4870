import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { NLM_F } from '../core/header.ts';
import { RTM } from '../core/rtm.ts';
import { addLink, deleteLink, type LinkSpec, setLink } from './changes.ts';

/** Stands in for a look-up: every name is link 7. */
const indexOf = async (ref: number | string) => (typeof ref === 'number' ? ref : 7);

/** The bytes that a link is asked for with. */
async function bytesOf(spec: LinkSpec): Promise<string> {
  const { body, type, flags } = await addLink(spec)(indexOf);
  assert.deepEqual([type, flags], [RTM.NEWLINK, NLM_F.CREATE | NLM_F.EXCL]);
  return Buffer.from(body).toString('hex');
}

const HEADER = '00000000000000000000000000000000';
/** IFF_UP in flags and in change */
const UP = '00000000000000000100000001000000';
const IFNAME_HD = '0700030068640000';
/** IFLA_LINKINFO, IFLA_INFO_KIND … */
const attribute = (type: string, payload: string) => {
  const length = 4 + payload.length / 2;
  const head = Buffer.from([length & 0xff, length >> 8]).toString('hex') + type;
  return head + payload + '00'.repeat((4 - (length % 4)) % 4);
};
const text = (value: string) => Buffer.from(`${value}\0`).toString('hex');
const info = (kind: string, data?: string) =>
  attribute('1280', attribute('0100', text(kind)) + (data === undefined ? '' : attribute('0280', data)));

const KINDS: readonly (readonly [LinkSpec, string])[] = [
  [{ name: 'hd', kind: 'dummy' }, info('dummy')],
  [
    { name: 'hd', kind: 'vlan', id: 100, protocol: '802.1ad' },
    info('vlan', '06000100640000000600050088a80000'),
  ],
  [{ name: 'hd', kind: 'ipvlan', mode: 'l3s', flags: 0 }, info('ipvlan', '06000100020000000600020000000000')],
  [{ name: 'hd', kind: 'vrf', table: 1000 }, info('vrf', '08000100e8030000')],
  [{ name: 'hd', kind: 'macvlan', mode: 'passthru' }, info('macvlan', '0800010008000000')],
  [
    { name: 'hd', kind: 'geneve', id: 42, remote: Addr.parse('192.0.2.1') },
    info('geneve', '080001002a00000008000200c0000201'),
  ],
  [{ name: 'hd', kind: 'bridge', vlanFiltering: true }, info('bridge', '0500070001000000')],
];
for (const [spec, expected] of KINDS) {
  test(`a new ${spec.kind} link, byte by byte`, async () => {
    assert.equal(await bytesOf(spec), HEADER + IFNAME_HD + expected);
  });
}

test('the other end of a veth is a whole link of its own, inside', async () => {
  const mac = Mac.parse('0a:58:0a:01:00:02');
  const peer = `${HEADER}0a0001000a580a0100020000070003006870000008001c0009000000`;
  assert.equal(
    await bytesOf({ name: 'hd', kind: 'veth', up: true, peer: { name: 'hp', mac, netns: { number: 9 } } }),
    `${UP}${IFNAME_HD}${info('veth', attribute('0100', peer))}`,
  );
});

test('what is left out of a change is left alone', async () => {
  const { body, type } = await setLink(3, { mtu: 1400 })(indexOf);
  assert.equal(type, RTM.SETLINK);
  assert.equal(Buffer.from(body).toString('hex'), '000000000300000000000000000000000800040078050000');
});

test('a link is deleted by the name it was given', async () => {
  const { body } = await deleteLink('hd')(indexOf);
  assert.equal(Buffer.from(body).toString('hex'), HEADER + IFNAME_HD);
});
