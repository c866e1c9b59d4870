import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { decodeConfig } from './decode.ts';
import { ConfigError, DecodeError } from './errors.ts';
import { bool, cidr, dnsSchema, int, ip, ipamSchema, mac, routeSchema, uint, uint64 } from './schema.ts';

const schema = v.object({
  type: v.string(),
  mtu: v.optional(uint(65535)),
  vlan: v.optional(int(0, 4094)),
  rate: v.optional(uint64()),
  mode: v.optional(v.picklist(['bridge', 'private', 'vepa'])),
  isGateway: v.optional(bool, false),
  mac: v.optional(mac()),
  dns: v.optional(dnsSchema),
  ipam: v.optional(
    v.object({ ...ipamSchema.entries, subnet: v.optional(cidr()), gateway: v.optional(ip()) }),
  ),
  routes: v.optional(v.array(routeSchema)),
});

function refuse(input: string | object): ConfigError {
  try {
    decodeConfig(schema, input, { what: 'network configuration' });
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  assert.fail('not refused');
}

test('a configuration is read with its defaults', () => {
  const text =
    '{"Type":"bridge","MTU":1400,"rate":18446744073709551615,"dns":{"Servers":[]},"ipam":{"gateway":""},"x":1}';
  assert.deepEqual(decodeConfig(schema, text), {
    type: 'bridge',
    mtu: 1400,
    rate: 18446744073709551615n,
    isGateway: false,
    dns: {},
    ipam: { type: '', gateway: '' },
  });
});

test('problems say what was expected and what is there', () => {
  const cases: readonly (readonly [member: object, reason: string])[] = [
    [{ mtu: '1500' }, 'mtu: expected an integer from 0 to 65535, got "1500" (a string)'],
    [{ mtu: 70000 }, 'mtu: expected an integer from 0 to 65535, got 70000'],
    [{ mtu: 1.5 }, 'mtu: expected an integer from 0 to 65535, got 1.5'],
    [{ mtu: -1 }, 'mtu: expected an integer from 0 to 65535, got -1'],
    [{ vlan: 4095 }, 'vlan: expected an integer from 0 to 4094, got 4095'],
    [{ rate: -1 }, 'rate: expected an integer from 0 to 18446744073709551615, got -1'],
    [
      { rate: 2n ** 64n },
      'rate: expected an integer from 0 to 18446744073709551615, got 18446744073709551616',
    ],
    [{ isGateway: 'yes' }, 'isGateway: expected true or false, got "yes" (a string)'],
    [{ mode: 'brige' }, 'mode: expected one of "bridge", "private", "vepa", got "brige" (a string)'],
    [{ dns: [] }, 'dns: expected an object, got a list'],
    [{ dns: 'x' }, 'dns: expected an object, got "x" (a string)'],
    [{ dns: { nameservers: 'x' } }, 'dns.nameservers: expected a list, got "x" (a string)'],
    [{ dns: { search: ['a', 5] } }, 'dns.search[1]: expected a string, got 5'],
    [{ type: true }, 'type: expected a string, got true'],
    [{ routes: [{ gw: '10.0.0.1' }] }, 'routes[0].dst is missing'],
  ];
  for (const [member, reason] of cases) assert.equal(refuse({ type: 'bridge', ...member }).reason, reason);
  assert.equal(refuse([]).reason, 'expected an object, got a list');
  assert.equal(refuse({ type: 'x', mode: 'brige' }).hint, 'did you mean "bridge"?');
});

test("a schema's own message is shown as it is, with the place as a detail", () => {
  const error = refuse({ type: 'x', ipam: { subnet: '10.1.0.0' } });
  assert.equal(error.msg, 'network configuration: invalid CIDR address: 10.1.0.0');
  assert.equal(error.cniDetails, 'at ipam.subnet');
  assert.equal(refuse({ type: 'x', ipam: { gateway: '10.1' } }).reason, 'invalid IP address: 10.1');
  assert.equal(refuse({ type: 'x', mac: '0:1' }).reason, 'invalid hardware address: 0:1');
  const own = v.object({
    address: cidr((text) => `the 'address' field is expected to be in CIDR notation, got: '${text}'`),
  });
  assert.throws(() => decodeConfig(own, { address: 'x' }), {
    msg: "the 'address' field is expected to be in CIDR notation, got: 'x'",
  });
});

test('pointer and position lead to the value, however it is spelled', () => {
  const error = refuse('{\n  "type": "bridge",\n  "ipam": {\n    "SUBNET": "10.1"\n  }\n}');
  assert.deepEqual([error.pointer, error.line, error.column], ['/ipam/subnet', 4, 15]);
  assert.throws(() => decodeConfig(schema, '{"type":"x",\n"mtu":\n"x"}', { file: '/etc/cni/a.conf' }), {
    msg: '/etc/cni/a.conf:3:1: mtu: expected an integer from 0 to 65535, got "x" (a string)',
  });
});

test('all problems are there', () => {
  const error = refuse({ mtu: 'x', mode: 5 });
  assert.equal(error.reason, 'type is missing');
  assert.equal(error.cniDetails?.split('; ').length, 2);
  const problems = error.details?.['problems'];
  assert.ok(Array.isArray(problems) && problems.length === 3);
});

test('the furthest option of a union explains', () => {
  const either = v.object({ ips: v.union([v.string(), v.array(v.object({ address: cidr() }))]) });
  assert.throws(() => decodeConfig(either, { ips: [{ address: 'x' }] }), {
    reason: 'invalid CIDR address: x',
  });
  assert.throws(() => decodeConfig(either, { ips: 5 }), {
    reason: 'ips: expected one of a string, a list, got 5',
  });
});

test('text that is no JSON is a decode error', () => {
  assert.throws(() => decodeConfig(schema, '{', { what: 'network configuration' }), DecodeError);
});

test('every building block has a JSON Schema', () => {
  const json = toJsonSchema(schema, { errorMode: 'ignore', typeMode: 'input' });
  assert.deepEqual(json.properties?.['mtu'], { type: 'integer', minimum: 0, maximum: 65535 });
  const subnet = Object(json.properties?.['ipam']).properties.subnet;
  assert.equal(subnet.type, 'string');
  assert.match(subnet.description, /prefix length/);
});
