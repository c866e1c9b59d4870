import assert from 'node:assert/strict';
import { test } from 'node:test';
import { added } from './drift.ts';

test('the parameters of a link that ADD made were not set by it, those of links before it were', () => {
  const before = ['link eth0', 'setting ipv4/conf/eth0/arp_notify = 0'];
  const after = [
    ...['link eth0', 'link vrf0'],
    ...['setting ipv4/conf/eth0/arp_notify = 1', 'setting ipv4/conf/vrf0/arp_notify = 0'],
  ];
  assert.deepEqual(added(before, after), ['link vrf0', 'setting ipv4/conf/eth0/arp_notify = 1']);
});
