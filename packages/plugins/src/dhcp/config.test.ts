import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeConfig } from '@heddle/cni';
import { dhcpConfig, providedOptions, requestedOptions, socketPathOf } from './config.ts';

function config(ipam: object) {
  return decodeConfig(dhcpConfig, { ipam: { type: 'dhcp', ...ipam } }, { what: 'dhcp configuration' });
}

function provided(provide: readonly object[], args = ''): readonly string[] {
  return providedOptions(config({ provide }), args).map(
    ({ code, data }) => `${code}=${Buffer.from(data, 'base64')}`,
  );
}

test('nothing has to be configured', () => {
  for (const nothing of [decodeConfig(dhcpConfig, {}), config({})]) {
    assert.equal(socketPathOf(nothing), '/run/cni/dhcp.sock');
    assert.deepEqual(providedOptions(nothing, ''), []);
    assert.deepEqual(requestedOptions(nothing), [1, 121, 3, 33, 6, 15, 119]);
  }
  assert.equal(socketPathOf(config({ DaemonSocketPath: '/x' })), '/x');
});

test('an option has the name that the reference gives it, or a number', () => {
  const names = [
    ['dhcp-client-identifier', 61],
    ['subnet-mask', 1],
    ['routers', 3],
    ['host-name', 12],
    ['user-class', 77],
    ['vendor-class-identifier', 60],
    ['0', 0],
    ['007', 7],
    ['255', 255],
  ] as const;
  for (const [option, code] of names) {
    assert.deepEqual(requestedOptions(config({ request: [{ option, skipDefault: true }] })), [code]);
  }
  for (const option of ['hostname', '256', '-1', '1.5', '0x1', 'constructor', ' 1']) {
    assert.throws(() => config({ request: [{ option }] }), {
      cniCode: 7,
      pointer: '/ipam/request/0/option',
      message: new RegExp(`unknown DHCP option ${JSON.stringify(option)}`),
    });
  }
});

test('what is requested comes first, then the defaults, each once', () => {
  const request = [{ option: '42' }, { option: 'routers' }, {}];
  assert.deepEqual(requestedOptions(config({ request })), [42, 3, 1, 121, 33, 6, 15, 119]);
  assert.deepEqual(requestedOptions(config({ request: [...request, { skipDefault: true }] })), [42, 3]);
});

test('an option has its value, or that of the argument, which wins', () => {
  assert.deepEqual(provided([{ option: 'host-name', value: 'web' }]), ['12=web']);
  const both = [{ option: 'host-name', value: 'web', fromArg: 'NAME' }];
  assert.deepEqual(provided(both, 'NAME=db;X=1'), ['12=db']);
  assert.deepEqual(provided(both, 'OTHER=db'), ['12=web']);
  assert.deepEqual(provided([{ option: '12', fromArg: 'NAME' }], 'IgnoreUnknown'), []);
  assert.deepEqual(provided([{ option: '12' }]), []);
  assert.deepEqual(provided([{ option: '43', fromArg: 'A' }], 'A=b=c;A'), ['43=b=c']);
  assert.deepEqual(provided([...both, { option: '12', value: 'last' }]), ['12=last']);
});

test('what makes a message what it is cannot be given a value', () => {
  for (const option of ['0', '50', '51', '52', '53', '54', '255']) {
    assert.throws(() => config({ provide: [{ option, value: 'x' }] }), {
      cniCode: 7,
      message: new RegExp(`the DHCP option "${option}" cannot be given a value`),
    });
  }
  assert.throws(() => config({ provide: [{ value: 'x' }] }), { cniCode: 7 });
});

test('a value fits into an option', () => {
  assert.throws(() => config({ provide: [{ option: '12', value: 'é'.repeat(128) }] }), {
    cniCode: 7,
    message: /expected at most 255 bytes/,
  });
  assert.equal(provided([{ option: '12', value: 'x'.repeat(255) }])[0]?.length, 258);
});
