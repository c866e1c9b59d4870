import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CniError, DecodeError } from './errors.ts';
import { parsePrevResult, parseResult } from './result.ts';
import { convertResult } from './result-convert.ts';
import { renderResult, stringifyResult } from './result-render.ts';
import { canonicalCidr } from './result-schema.ts';
import { CNI_VERSIONS } from './versions.ts';

const dns =
  '{"nameservers":["192.0.2.53"],"domain":"a.example","search":["b.example"],"options":["ndots:2"]}';
const dnsSorted =
  '{"domain":"a.example","nameservers":["192.0.2.53"],"options":["ndots:2"],"search":["b.example"]}';

/** One document per shape, with V for the version. */
const documents = {
  legacy: `{"cniVersion":"V","ip4":{"ip":"10.1.2.3/24","gateway":"10.1.2.1","routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1","mtu":1400,"table":0}]},"ip6":{"ip":"2001:db8::3/64","routes":[{"dst":"2001:db8:1::/48","gw":"2001:db8::1"}]},"dns":${dns}}`,
  middle: `{"cniVersion":"V","interfaces":[{"name":"cni0","mac":"00:00:5e:00:53:01"},{"name":"eth0","sandbox":"/run/netns/x"}],"ips":[{"version":"6","interface":1,"address":"2001:db8::3/64"},{"version":"4","interface":0,"address":"10.1.2.3/24","gateway":"10.1.2.1"},{"version":"4","address":"10.9.9.9/32"}],"routes":[{"dst":"::/0","advmss":1300},{"dst":"0.0.0.0/0","gw":"10.1.2.1","priority":5,"scope":0}],"dns":${dns}}`,
  current: `{"cniVersion":"V","dns":${dnsSorted},"interfaces":[{"mac":"00:00:5e:00:53:01","mtu":1400,"name":"cni0","pciID":"0000:00:1f.6","socketPath":"/s"},{"name":"eth0","sandbox":"/run/netns/x"}],"ips":[{"address":"2001:db8::3/64","interface":1},{"address":"10.1.2.3/24","gateway":"10.1.2.1","interface":0},{"address":"10.9.9.9/32"}],"routes":[{"advmss":1300,"dst":"::/0"},{"dst":"0.0.0.0/0","gw":"10.1.2.1","priority":5,"scope":0}]}`,
};

/** What each shape becomes in each other one. */
const converted = {
  legacy: {
    legacy: documents.legacy,
    middle: `{"cniVersion":"V","ips":[{"version":"4","address":"10.1.2.3/24","gateway":"10.1.2.1"},{"version":"6","address":"2001:db8::3/64"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1","mtu":1400,"table":0},{"dst":"2001:db8:1::/48","gw":"2001:db8::1"}],"dns":${dns}}`,
    current: `{"cniVersion":"V","dns":${dnsSorted},"ips":[{"address":"10.1.2.3/24","gateway":"10.1.2.1"},{"address":"2001:db8::3/64"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1","mtu":1400,"table":0},{"dst":"2001:db8:1::/48","gw":"2001:db8::1"}]}`,
  },
  middle: {
    legacy: `{"cniVersion":"V","ip4":{"ip":"10.1.2.3/24","gateway":"10.1.2.1","routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1"}]},"ip6":{"ip":"2001:db8::3/64","routes":[{"dst":"::/0"}]},"dns":${dns}}`,
    middle: documents.middle,
    current: `{"cniVersion":"V","dns":${dnsSorted},"interfaces":[{"mac":"00:00:5e:00:53:01","name":"cni0"},{"name":"eth0","sandbox":"/run/netns/x"}],"ips":[{"address":"2001:db8::3/64","interface":1},{"address":"10.1.2.3/24","gateway":"10.1.2.1","interface":0},{"address":"10.9.9.9/32"}],"routes":[{"advmss":1300,"dst":"::/0"},{"dst":"0.0.0.0/0","gw":"10.1.2.1","priority":5,"scope":0}]}`,
  },
  current: {
    legacy: `{"cniVersion":"V","ip4":{"ip":"10.1.2.3/24","gateway":"10.1.2.1","routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1"}]},"ip6":{"ip":"2001:db8::3/64","routes":[{"dst":"::/0"}]},"dns":${dns}}`,
    middle: `{"cniVersion":"V","interfaces":[{"name":"cni0","mac":"00:00:5e:00:53:01"},{"name":"eth0","sandbox":"/run/netns/x"}],"ips":[{"version":"6","interface":1,"address":"2001:db8::3/64"},{"version":"4","interface":0,"address":"10.1.2.3/24","gateway":"10.1.2.1"},{"version":"4","address":"10.9.9.9/32"}],"routes":[{"dst":"::/0","advmss":1300},{"dst":"0.0.0.0/0","gw":"10.1.2.1","priority":5,"scope":0}],"dns":${dns}}`,
    current: documents.current,
  },
};

type Shape = keyof typeof documents;

function shapeOf(version: string): Shape {
  if (version < '0.3') return 'legacy';
  return version < '1' ? 'middle' : 'current';
}

function withVersion(text: string, version: string): string {
  return text.replace('"V"', `"${version}"`);
}

for (const from of CNI_VERSIONS) {
  test(`${from} converts to every version, member by member and in order`, () => {
    const result = parseResult(JSON.parse(withVersion(documents[shapeOf(from)], from)), { version: '' });
    assert.equal(result.cniVersion, from);
    for (const to of CNI_VERSIONS) {
      const expected = withVersion(converted[shapeOf(from)][shapeOf(to)], to);
      assert.equal(JSON.stringify(renderResult(result, to)), expected, `${from} to ${to}`);
      assert.equal(
        JSON.stringify(renderResult(convertResult(result, to), to)),
        expected,
        `${from} to ${to}, twice`,
      );
    }
  });
}

test('a printed result has four spaces of indent and no newline at the end', () => {
  const result = { cniVersion: '1.1.0', ips: [{ address: '10.77.0.2/24' }], interfaces: [{ name: '<x>' }] };
  assert.equal(
    stringifyResult(result, '1.0.0'),
    `{
    "cniVersion": "1.0.0",
    "interfaces": [
        {
            "name": "\\u003cx\\u003e"
        }
    ],
    "ips": [
        {
            "address": "10.77.0.2/24"
        }
    ]
}`,
  );
});

test('an empty result says so in each shape', () => {
  const empty = { cniVersion: '1.1.0' };
  assert.deepEqual(renderResult(empty, '1.1.0'), { cniVersion: '1.1.0' });
  assert.deepEqual(renderResult(empty, '0.4.0'), { cniVersion: '0.4.0', dns: {} });
  assert.deepEqual(renderResult({ cniVersion: '0.2.0' }, '0.1.0'), { cniVersion: '0.1.0', dns: {} });
});

test('nothing to say in the oldest shape is an error', () => {
  assert.throws(() => convertResult({ cniVersion: '1.1.0' }, '0.2.0'), {
    message: 'cannot convert: no valid IP addresses',
  });
});

test('the name of an address, not its family, decides conversion to the oldest shape', () => {
  const json = {
    cniVersion: '0.4.0',
    ips: [{ version: '6', address: '10.0.0.1/24' }],
    routes: [{ dst: '10.1.0.0/16' }],
  };
  const result = parseResult(json, { version: '' });
  assert.deepEqual(renderResult(result, '0.2.0'), {
    cniVersion: '0.2.0',
    ip6: { ip: '10.0.0.1/24' },
    dns: {},
  });
  assert.deepEqual(renderResult(result, '0.3.0'), { ...json, cniVersion: '0.3.0', dns: {} });
  const modern = convertResult(result, '1.0.0');
  assert.deepEqual(renderResult(modern, '0.4.0')['ips'], [{ version: '4', address: '10.0.0.1/24' }]);
});

test('routes of a family without an address are lost on the way to the oldest shape', () => {
  const result = {
    cniVersion: '0.3.1',
    ips: [{ address: '10.0.0.1/24' }],
    routes: [{ dst: '::/0' }, { dst: '10.1.0.0/16', mtu: 9 }],
  };
  assert.deepEqual(renderResult(result, '0.1.0')['ip4'], {
    ip: '10.0.0.1/24',
    routes: [{ dst: '10.1.0.0/16' }],
  });
});

test('unknown versions have no converter', () => {
  const message = 'no converter for CNI result version 1.1.0 to 5.0.0';
  assert.throws(() => convertResult({ cniVersion: '1.1.0' }, '5.0.0'), { message, cniCode: 1 });
  assert.equal(convertResult({ cniVersion: '', ips: [{ address: '10.0.0.1/8' }] }, '').cniVersion, '0.1.0');
});

test('a result without a version has the version of the configuration (containernetworking/cni#895)', () => {
  const json = { ips: [{ version: '4', address: '192.0.2.5/24' }] };
  for (const cniVersion of [undefined, '', 5, null]) {
    const result = parseResult({ ...json, cniVersion }, { version: '0.3.1' });
    assert.deepEqual(renderResult(result, '0.3.1'), { cniVersion: '0.3.1', ...json, dns: {} });
  }
  assert.deepEqual(parseResult({ ip4: { ip: '192.0.2.5/24' } }, { version: '' }), {
    cniVersion: '0.1.0',
    ips: [{ address: '192.0.2.5/24', version: '4' }],
  });
  assert.deepEqual(parseResult({}, { version: '1.0.0' }), { cniVersion: '1.0.0' });
});

test('shapes that are mixed in one document are taken', () => {
  const json = {
    CNIVersion: '1.0.0',
    IPs: [{ version: '4', Address: '10.0.0.1/24', gateway: '' }],
    ip4: { ip: 'nonsense' },
  };
  assert.deepEqual(parseResult(json, { version: '' }), {
    cniVersion: '1.0.0',
    ips: [{ address: '10.0.0.1/24' }],
  });
  const unnamed = parseResult({ cniVersion: '0.4.0', ips: [{ address: '10.0.0.1/24' }] }, { version: '' });
  assert.deepEqual(renderResult(unnamed, '0.4.0')['ips'], [{ version: '4', address: '10.0.0.1/24' }]);
});

test('addresses become canonical', () => {
  const json = {
    cniVersion: '1.1.0',
    ips: [{ address: '2001:DB8:0:0::1/64', gateway: '::ffff:10.0.0.1' }],
    routes: [{ dst: '::ffff:10.1.0.0/112', gw: 'FE80::1' }],
  };
  assert.deepEqual(parseResult(json, { version: '' }), {
    cniVersion: '1.1.0',
    ips: [{ address: '2001:db8::1/64', gateway: '10.0.0.1' }],
    routes: [{ dst: '10.1.0.0/16', gw: 'fe80::1' }],
  });
  assert.equal(canonicalCidr('10.1.2.3/24'), '10.1.2.3/24', 'host bits stay');
});

test('what is not valid is refused, with its place; null too (containernetworking/cni#904)', () => {
  const cases: readonly (readonly [json: unknown, reason: RegExp, pointer: string])[] = [
    [null, /^a result must be a JSON object$/, ''],
    [[], /must be a JSON object/, ''],
    ['', /must be a JSON object/, ''],
    [42, /must be a JSON object/, ''],
    [{ cniVersion: '2.0.0' }, /^unsupported CNI result version "2.0.0"$/, ''],
    [{ ips: [{ address: '10.0.0.1' }] }, /^invalid CIDR address: 10.0.0.1$/, '/ips/0/address'],
    [{ ips: [{ address: '010.0.0.1/8' }] }, /^invalid CIDR address: 010.0.0.1\/8$/, '/ips/0/address'],
    [{ ips: [{ address: '10.0.0.1/8', gateway: 'x' }] }, /^invalid IP address: x$/, '/ips/0/gateway'],
    [{ ips: [{}] }, /^ips\[0\].address is missing$/, '/ips/0/address'],
    [{ routes: [{ dst: '10.0.0.0/8', mtu: 1.5 }] }, /mtu: expected an integer/, '/routes/0/mtu'],
    [{ interfaces: {} }, /interfaces: expected a list/, '/interfaces'],
    [{ dns: { search: 'x' } }, /dns.search: expected a list/, '/dns/search'],
  ];
  for (const [json, reason, pointer] of cases) {
    assert.throws(
      () => parseResult(json, { version: '1.1.0' }),
      (error) => error instanceof DecodeError && reason.test(error.reason) && error.pointer === pointer,
      JSON.stringify(json),
    );
  }
});

test("a prevResult must be of the configuration's shape", () => {
  assert.equal(parsePrevResult(undefined, '1.0.0'), undefined);
  assert.equal(parsePrevResult(null, '1.0.0'), undefined);
  assert.equal(parsePrevResult({ cniVersion: '1.1.0' }, '1.0.0')?.cniVersion, '1.1.0');
  assert.equal(parsePrevResult({}, '')?.cniVersion, '0.1.0');
  const ips = [{ address: '10.0.0.1/24' }];
  assert.throws(() => parsePrevResult({ cniVersion: '0.4.0', ips }, '1.0.0'), {
    msg: 'could not parse prevResult: result type supports [1.0.0 1.1.0] but unmarshalled CNIVersion is "0.4.0"',
  });
  assert.throws(() => parsePrevResult({ ips: [{ address: 'x' }] }, '1.0.0'), {
    msg: 'could not parse prevResult: invalid CIDR address: x',
  });
});

const anyIp = fc.oneof(fc.ipV4(), fc.ipV6());
const anyCidr = fc.oneof(
  fc.tuple(fc.ipV4(), fc.nat(32)).map(([address, bits]) => `${address}/${bits}`),
  fc.tuple(fc.ipV6(), fc.nat(128)).map(([address, bits]) => `${address}/${bits}`),
);
const anyResult = fc.record(
  {
    cniVersion: fc.constantFrom(...CNI_VERSIONS),
    interfaces: fc.array(
      fc.record({ name: fc.string(), mac: fc.string(), mtu: fc.nat() }, { requiredKeys: ['name'] }),
    ),
    ips: fc.array(
      fc.record({ address: anyCidr, gateway: anyIp, interface: fc.nat(3) }, { requiredKeys: ['address'] }),
    ),
    routes: fc.array(
      fc.record({ dst: anyCidr, gw: anyIp, mtu: fc.nat(), table: fc.nat() }, { requiredKeys: ['dst'] }),
    ),
    dns: fc.record({ nameservers: fc.array(anyIp), domain: fc.string() }, { requiredKeys: [] }),
  },
  { requiredKeys: ['cniVersion'] },
);

test('parsing what was rendered gives the same again, for every version', () => {
  fc.assert(
    fc.property(anyResult, fc.constantFrom(...CNI_VERSIONS), (json, version) => {
      const result = parseResult(json, { version: '' });
      try {
        const once = renderResult(result, version);
        assert.deepEqual(renderResult(parseResult(once, { version: '' }), version), once);
        assert.deepEqual(
          parseResult(JSON.parse(stringifyResult(result, version)), { version: '' }),
          parseResult(once, { version }),
        );
      } catch (error) {
        assert.ok(
          error instanceof CniError && error.msg === 'cannot convert: no valid IP addresses',
          String(error),
        );
      }
    }),
  );
});
