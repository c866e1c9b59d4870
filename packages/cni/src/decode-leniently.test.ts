import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ConfigError, decodeLeniently, ip, uint } from './index.ts';

const schema = v.object({
  mtu: v.optional(uint(65535), 0),
  list: v.optional(v.array(ip()), []),
  ipam: v.optional(v.object({ subnet: v.string(), size: v.optional(uint(9), 1) })),
});

test('what is not valid is left out, and said', () => {
  const { output, ignored } = decodeLeniently(schema, {
    MTU: 'big',
    list: ['10.0.0.1', 'x', '10.0.0.2'],
    ipam: { subnet: 's', size: 99 },
  });
  assert.deepEqual(output, { mtu: 0, list: ['10.0.0.1', '10.0.0.2'], ipam: { subnet: 's', size: 1 } });
  assert.equal(ignored.length, 3);
  assert.match(ignored.join('\n'), /mtu: expected an integer.*"big"/);
});

test('an object that lacks what it needs is left out whole', () => {
  assert.deepEqual(decodeLeniently(schema, { ipam: { size: 2 } }).output, { mtu: 0, list: [] });
});

test('a valid configuration is taken as it is', () => {
  assert.deepEqual(decodeLeniently(schema, { mtu: 1400 }), { output: { mtu: 1400, list: [] }, ignored: [] });
});

test('what the schema requires at the top cannot be done without', () => {
  assert.throws(() => decodeLeniently(v.object({ vrfname: v.string() }), { vrfname: 1 }), ConfigError);
  assert.throws(() => decodeLeniently(v.object({ vrfname: v.string() }), {}), /vrfname is missing/);
});
