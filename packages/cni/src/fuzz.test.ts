/** Whatever JSON comes in, nothing but a documented error goes out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { CNI_CODE } from './codes.ts';
import { decodeConfig } from './decode.ts';
import { deriveStdin } from './derive.ts';
import { CniError, PluginError } from './errors.ts';
import { goJson } from './go-json.ts';
import { parseJson } from './json.ts';
import { unknownKeys } from './members.ts';
import { listNetworks, selectNetwork } from './network-files.ts';
import { parseNetworkList, upconvert } from './network-list.ts';
import { parsePluginConfig } from './plugin-config.ts';
import { parsePrevResult, parseResult } from './result.ts';
import { stringifyResult } from './result-render.ts';
import { cidr, ip, pluginEntries, routeSchema, uint64 } from './schema.ts';
import { CNI_VERSIONS } from './versions.ts';

const seeds = [
  {
    cniVersion: '1.1.0',
    cniVersions: ['1.0.0'],
    name: 'n1',
    disableCheck: 'true',
    plugins: [{ type: 'bridge', ipam: { type: 'host-local' }, dns: {}, capabilities: { mac: true } }],
  },
  {
    cniVersion: '0.4.0',
    name: 'n1',
    type: 'ptp',
    prevResult: { ips: [{ version: '4', address: '10.0.0.1/24' }] },
    routes: [{ dst: '::/0' }],
  },
  {
    cniVersion: '1.0.0',
    interfaces: [{ name: 'eth0', mac: '' }],
    ips: [{ address: '10.0.0.1/24', gateway: '10.0.0.254', interface: 0 }],
    routes: [{ dst: '0.0.0.0/0', gw: '' }],
    dns: { search: ['x'] },
  },
  {
    cniVersion: '0.2.0',
    ip4: { ip: '10.0.0.1/24', routes: [{ dst: '0.0.0.0/0' }] },
    ip6: { ip: '2001:db8::1/64' },
  },
];

const schema = v.object({
  ...pluginEntries,
  subnet: v.optional(cidr()),
  gateway: v.optional(ip()),
  rate: v.optional(uint64()),
  routes: v.optional(v.array(routeSchema)),
  either: v.optional(v.union([v.string(), v.array(v.object({ a: v.number() }))])),
});

/** Replaces, renames, removes or adds something at a random place of a document. */
function mutate(value: unknown, dice: () => number): unknown {
  const odd = [null, true, -1, 1.5, 2n ** 70n, '', '10.0.0.1/33', '__proto__', [], {}, [[]], { '': null }];
  if (dice() % 4 === 0 || typeof value !== 'object' || value === null) return odd[dice() % odd.length];
  if (Array.isArray(value)) {
    const at = dice() % (value.length + 1);
    return [...value.slice(0, at), mutate(value[at], dice), ...value.slice(at + (dice() % 2))];
  }
  const members = Object.entries(value);
  const [key, member] = members[dice() % (members.length || 1)] ?? ['x', 1];
  const renamed = [key, key.toUpperCase(), `${key}x`, '__proto__', 'constructor'][dice() % 5] ?? key;
  const kept = members.filter(([each]) => dice() % 8 !== 0 && each !== key);
  return Object.fromEntries([...kept, [renamed, mutate(member, dice)]]);
}

function documented(action: () => unknown): void {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof CniError, `${error}`);
    assert.ok(Object.values<number>(CNI_CODE).includes(error.cniCode));
    assert.ok(error.msg !== '' && error.cniCode !== CNI_CODE.INTERNAL);
    JSON.stringify(error.toJSON());
  }
}

/** What a runtime reads before it runs anything. */
function load(text: string): void {
  const bytes = new TextEncoder().encode(text);
  documented(() => {
    const list = parseNetworkList(bytes, { file: 'a.conflist', siblings: [] });
    for (const plugin of list.plugins) {
      goJson(deriveStdin(list, plugin, { capabilityArgs: { mac: 'x' }, attachments: null }));
    }
  });
  documented(() => upconvert(parsePluginConfig(bytes)));
}

/** Everything else in this package that reads what others wrote. */
function readAll(text: string): void {
  load(text);
  const bytes = new TextEncoder().encode(text);
  const files = [
    { path: 'a.conflist', read: () => bytes },
    { path: 'b.conf', read: () => bytes },
  ];
  documented(() => selectNetwork(files, 'n1'));
  documented(() => listNetworks(files));
  documented(() => decodeConfig(schema, bytes, { what: 'network configuration' }));
  documented(() => {
    const value = parseJson(bytes);
    unknownKeys(schema, value);
    documented(() => PluginError.fromJson('x', value));
    for (const version of CNI_VERSIONS) {
      documented(() => parsePrevResult(value, version));
      documented(() => stringifyResult(parseResult(value, { version: '' }), version));
    }
  });
}

const dice = fc.infiniteStream(fc.nat({ max: 1000 }), { noHistory: true });
const mutated = fc
  .tuple(fc.constantFrom(...seeds), fc.integer({ min: 1, max: 4 }), dice)
  .map(([seed, times, stream]) => {
    let value: unknown = seed;
    for (let i = 0; i < times; i++) value = mutate(value, () => Number(stream.next().value));
    return goJson(value);
  });

test('mutated documents, as the loader reads them', () => {
  fc.assert(fc.property(mutated, load), { numRuns: 10_000 });
});

test('mutated documents, as everything else reads them', () => {
  fc.assert(fc.property(mutated, readAll), { numRuns: 1000 });
});

test('documents with bytes changed', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...seeds),
      fc.nat(),
      fc.string({ maxLength: 3 }),
      fc.nat(4),
      (seed, at, insert, removed) => {
        const text = JSON.stringify(seed);
        const place = at % text.length;
        readAll(text.slice(0, place) + insert + text.slice(place + removed));
      },
    ),
    { numRuns: 500 },
  );
});

test('documents of any shape', () => {
  fc.assert(fc.property(fc.json({ maxDepth: 4 }), readAll), { numRuns: 500 });
});
