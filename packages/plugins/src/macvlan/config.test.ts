import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeConfig } from '@heddle/cni';
import { ipvlanConfig, modeOf as ipvlanMode } from '../ipvlan/config.ts';
import { macvlanConfig, modeOf, requestedMac } from './config.ts';

const read = (config: object) => decodeConfig(macvlanConfig, config);

test('defaults', () => {
  const { master, mode, mtu, linkInContainer, bcqueuelen } = read({});
  assert.deepEqual([master, mode, mtu, linkInContainer, bcqueuelen], ['', 'bridge', 0, false, 0]);
});

test('the empty mode is the default, others must be known', () => {
  assert.equal(modeOf(read({ mode: '' })), 'bridge');
  assert.equal(modeOf(read({ Mode: 'vepa' })), 'vepa');
  assert.equal(ipvlanMode(decodeConfig(ipvlanConfig, { mode: '' })), 'l2');
  assert.throws(() => read({ mode: 'source' }), { pointer: '/mode', cniCode: 7 });
  assert.throws(() => decodeConfig(ipvlanConfig, { mode: 'bridge' }), { pointer: '/mode', cniCode: 7 });
});

test('the hardware address: mac, then CNI_ARGS, then runtimeConfig; the empty text is none', () => {
  const mac = '02:00:00:00:00:01';
  const runtimeConfig = { mac: '02:00:00:00:00:03' };
  const from = (config: object, args?: string) => String(requestedMac(read(config), args));
  assert.equal(from({ mac }), mac);
  assert.equal(from({ mac }, '02:00:00:00:00:02'), '02:00:00:00:00:02');
  assert.equal(from({ mac, runtimeConfig }, '02:00:00:00:00:02'), '02:00:00:00:00:03');
  assert.equal(from({ mac, runtimeConfig: { mac: '' } }, ''), mac);
  assert.equal(requestedMac(read({}), undefined), undefined);
});
