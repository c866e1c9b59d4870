import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { matchMembers, unknownKeys } from './members.ts';

const schema = v.object({
  hostPort: v.optional(v.number()),
  runtimeConfig: v.optional(
    v.object({
      portMappings: v.optional(v.array(v.object({ hostPort: v.number(), protocol: v.optional(v.string()) }))),
    }),
  ),
  sysctl: v.optional(v.record(v.string(), v.string())),
  ipam: v.optional(v.looseObject({ type: v.string() })),
  rate: v.optional(v.bigint()),
});

test('names match in any letter case at every depth', () => {
  const value = { RuntimeConfig: { PORTMAPPINGS: [{ HostPort: 80, Protocol: 'tcp', containerPort: 8080 }] } };
  assert.deepEqual(matchMembers(schema, value), {
    runtimeConfig: { portMappings: [{ hostPort: 80, protocol: 'tcp' }] },
  });
  // The long s and the Kelvin sign count as their letters.
  assert.deepEqual(matchMembers(schema, { '\u017fysctl': {} }), { sysctl: {} });
});

test('the last of several wins', () => {
  assert.deepEqual(matchMembers(schema, { hostPort: 1, HOSTPORT: 2 }), { hostPort: 2 });
  assert.deepEqual(matchMembers(schema, { HOSTPORT: 2, hostPort: 1 }), { hostPort: 1 });
});

test('the keys of a map are data', () => {
  const value = { Sysctl: { 'Net.Core.SOMAXCONN': '1', 'net.core.somaxconn': '2' } };
  assert.deepEqual(matchMembers(schema, value), {
    sysctl: { 'Net.Core.SOMAXCONN': '1', 'net.core.somaxconn': '2' },
  });
});

test('null leaves the default; unknown members are left out, but for loose objects', () => {
  assert.deepEqual(matchMembers(schema, { hostPort: null, foo: 1, ipam: { TYPE: 'static', other: 5 } }), {
    ipam: { type: 'static', other: 5 },
  });
  assert.deepEqual(
    matchMembers(v.object({ a: v.nullable(v.string()), b: v.unknown() }), { a: null, b: null }),
    {
      a: null,
      b: null,
    },
  );
});

test('whole numbers become bigints where the schema wants them', () => {
  assert.deepEqual(matchMembers(schema, { rate: 5 }), { rate: 5n });
  assert.deepEqual(matchMembers(schema, { rate: 5.5 }), { rate: 5.5 });
  assert.deepEqual(matchMembers(schema, { rate: 2n ** 63n }), { rate: 2n ** 63n });
});

test('unions and variants follow the option that fits', () => {
  const either = v.object({
    ranges: v.union([v.array(v.object({ subnet: v.string() })), v.object({ subnet: v.string() })]),
  });
  assert.deepEqual(matchMembers(either, { Ranges: [{ Subnet: 'x' }] }), { ranges: [{ subnet: 'x' }] });
  assert.deepEqual(matchMembers(either, { Ranges: { SUBNET: 'x' } }), { ranges: { subnet: 'x' } });
  const variant = v.variant('kind', [
    v.object({ kind: v.literal('a'), one: v.number() }),
    v.object({ kind: v.literal('b'), two: v.number() }),
  ]);
  assert.deepEqual(matchMembers(variant, { Kind: 'b', TWO: 2, one: 1 }), { kind: 'b', two: 2 });
  assert.deepEqual(matchMembers(v.object({ mode: v.picklist(['x', 'y']) }), { MODE: 'y' }), { mode: 'y' });
});

test('a member named __proto__ never reaches a prototype', () => {
  const value = JSON.parse('{"ipam":{"type":"x","__proto__":{"polluted":true}},"__proto__":{"hostPort":5}}');
  const matched = matchMembers(schema, value) as { hostPort?: unknown; ipam: object };
  assert.equal(matched.hostPort, undefined);
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  assert.equal(Object.getPrototypeOf(matched.ipam), Object.prototype);
});

test('unknown keys come with their place and the name that was meant', () => {
  const value = {
    hostport: 1,
    hostPrt: 2,
    runtimeConfig: { portMapping: [], x: 1 },
    sysctl: { any: '1' },
    ipam: { any: 1 },
  };
  assert.deepEqual(unknownKeys(schema, value), [
    { pointer: '', key: 'hostPrt', suggestion: 'hostPort' },
    { pointer: '/runtimeConfig', key: 'portMapping', suggestion: 'portMappings' },
    { pointer: '/runtimeConfig', key: 'x' },
  ]);
});

test('a value that is spelled right passes through as it is', () => {
  const value = fc.record(
    { hostPort: fc.nat(), sysctl: fc.dictionary(fc.string(), fc.string()) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(value, (each) => {
      assert.deepEqual(matchMembers(schema, each), {
        ...each,
        ...(each.sysctl && { sysctl: { ...each.sysctl } }),
      });
      assert.deepEqual(unknownKeys(schema, each), []);
    }),
  );
});
