/**
 * The same calls to the reference's binary and to this plugin: same results, same files, and one directory
 * that both work on. Needs the binaries of Debian's package containernetworking-plugins.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Callee, inProcess, type PluginCall, program, referenceBinary } from '../addressing/testing.ts';
import { hostLocalAt } from './index.ts';
import { HostLocalLab } from './testing.ts';

const reference = referenceBinary('host-local');
const skip = reference === undefined && 'the reference plugins are not installed in /usr/lib/cni';
const theirs: Callee = (request) => (reference ?? assert.fail('skipped'))(request);
const ours = inProcess(hostLocalAt({ dataDir: '/nowhere', cacheDir: '/nowhere' }));

type Step = readonly [command: string, containerID: string, args?: string];
const dual = {
  ranges: [[{ subnet: '10.1.2.0/29' }, { subnet: '10.1.3.0/30' }], [{ subnet: '2001:DB8:0::/125' }]],
};

const scenarios: readonly [name: string, ipam: object, steps: readonly Step[], rest?: object][] = [
  [
    'one after the other',
    { subnet: '10.1.2.0/24' },
    [
      ['ADD', 'c1'],
      ['ADD', 'c2'],
      ['DEL', 'c1'],
      ['ADD', 'c3'],
    ],
  ],
  [
    'dual stack until it is full, and around',
    dual,
    [
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((id): Step => ['ADD', id]),
      ['DEL', 'b'],
      ['DEL', 'd'],
      ['ADD', 'i'],
      ['ADD', 'j'],
      ['ADD', 'k'],
    ],
  ],
  [
    'a second ADD',
    dual,
    [
      ['ADD', 'c1'],
      ['ADD', 'c1'],
      ['CHECK', 'c1'],
      ['CHECK', 'c2'],
    ],
  ],
  [
    'requested addresses',
    dual,
    [
      ['ADD', 'c1', 'IP=10.1.2.5'],
      ['ADD', 'c2', 'IP=10.1.2.5'],
      ['ADD', 'c3', 'IP=10.1.2.1'],
      ['ADD', 'c4', 'IP=2001:db8::6/125'],
      ['ADD', 'c6', 'IP=bogus'],
      ['ADD', 'c7'],
      ['ADD', 'c8', 'IP=192.0.2.1'],
    ],
  ],
  [
    'bounds and gateways',
    {
      ranges: [
        [{ subnet: '10.1.2.0/24', rangeStart: '10.1.2.250', rangeEnd: '10.1.2.252', gateway: '10.1.2.251' }],
      ],
    },
    [
      ['ADD', 'c1'],
      ['ADD', 'c2'],
      ['ADD', 'c3'],
    ],
  ],
  [
    'ranges of the runtime, routes as configured',
    { subnet: '10.1.2.0/24', routes: [{ dst: '0.0.0.0/0' }, { dst: '2001:DB8::/32', gw: 'FE80::1' }] },
    [['ADD', 'c1']],
    { runtimeConfig: { ipRanges: [[{ subnet: '10.9.0.0/16' }]], ips: ['10.9.7.7/16'] } },
  ],
  ['no ranges', {}, [['ADD', 'c1']]],
  ['an empty set', { ranges: [[]] }, [['ADD', 'c1']]],
  ['host bits', { subnet: '10.1.2.3/24' }, [['ADD', 'c1']]],
  ['a bound outside', { subnet: '10.1.2.0/24', rangeEnd: '10.1.3.1' }, [['ADD', 'c1']]],
  [
    'reversed bounds',
    { subnet: '10.1.2.0/24', rangeStart: '10.1.2.9', rangeEnd: '10.1.2.3' },
    [['ADD', 'c1']],
  ],
  ['mixed families', { ranges: [[{ subnet: '10.1.2.0/24' }, { subnet: '2001:db8::/64' }]] }, [['ADD', 'c1']]],
];

describe('the reference and this plugin', { skip }, () => {
  for (const version of ['0.2.0', '0.3.1', '0.4.0', '1.0.0']) {
    for (const [name, ipam, steps, rest = {}] of scenarios) {
      test(`do the same in ${version}: ${name}`, async () => {
        const records = await Promise.all(
          [theirs, ours].map((callee) => play(callee, version, ipam, steps, rest)),
        );
        assert.deepEqual(records[1], records[0]);
      });
    }
  }
});

describe('one directory, two implementations', { skip }, () => {
  let lab: HostLocalLab;
  beforeEach(() => {
    lab = new HostLocalLab();
  });
  afterEach(() => lab[Symbol.dispose]());
  const request = (command: string, containerID: string): PluginCall => ({
    command,
    containerID,
    config: lab.config({ subnet: '10.1.0.0/16', ranges: [[{ subnet: '2001:db8::/64' }]] }, {}, '1.0.0'),
  });

  for (const [first, second, direction] of [
    [theirs, ours, 'this plugin takes over'],
    [ours, theirs, 'the reference takes over'],
  ] as const) {
    test(direction, async () => {
      assert.equal((await first(request('ADD', 'c1'))).exitCode, 0);
      assert.equal((await second(request('CHECK', 'c1'))).exitCode, 0);
      const { json } = await second(request('ADD', 'c2'));
      const [{ address }] = (json as { ips: [{ address: string }] }).ips;
      assert.equal(address, '10.1.0.3/16');
      assert.equal((await second(request('ADD', 'c1'))).exitCode, 1);
      for (const id of ['c1', 'c2']) assert.equal((await second(request('DEL', id))).exitCode, 0);
      assert.deepEqual(lab.files(), ['last_reserved_ip.0', 'last_reserved_ip.1', 'lock']);
    });
  }

  test('processes of both at the same time never give an address twice', async () => {
    const ourProcess = program(fileURLToPath(new URL('testing-program.ts', import.meta.url)));
    const ids = Array.from({ length: 48 }, (_, index) => `c${index}`);
    const calleeOf = (index: number) => [theirs, ours, theirs, ourProcess][index % 4] ?? theirs;
    const given = await Promise.all(
      ids.map(async (id, index) => {
        const { exitCode, json, stdout } = await calleeOf(index)(request('ADD', id));
        assert.equal(exitCode, 0, stdout);
        return (json as { ips: readonly { address: string }[] }).ips.map(({ address }) => address);
      }),
    );
    assert.equal(new Set(given.flat()).size, 2 * ids.length);
    assert.equal(lab.reservations().length, 2 * ids.length);
    for (const name of lab.reservations()) assert.match(lab.read(name), /^c\d+\r\neth0$/);

    await Promise.all(ids.map((id, index) => calleeOf(index + 1)(request('DEL', id))));
    assert.deepEqual(lab.files(), ['last_reserved_ip.0', 'last_reserved_ip.1', 'lock']);
  });
});

/** What calls lead to, one by one, less what the two say differently on purpose. */
async function play(callee: Callee, version: string, ipam: object, steps: readonly Step[], rest: object) {
  using lab = new HostLocalLab();
  const record: object[] = [];
  for (const [command, containerID, args] of steps) {
    const config = lab.config(ipam, rest, version);
    const { exitCode, json } = await callee({
      command,
      containerID,
      config,
      ...(args !== undefined && { args }),
    });
    record.push({
      step: `${command} ${containerID}`,
      exitCode,
      answer: comparable(json),
      // The reference moves its markers also when it gives nothing in the end.
      files: contents(lab).filter((file) => exitCode === 0 || !file.startsWith('last_reserved_ip')),
    });
  }
  return record;
}

/** Texts alike as far as the reference's go; codes are finer here; 1.x results of older releases hold `dns: {}`. */
function comparable(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (!('msg' in json)) return { ...json, dns: undefined };
  const [text] = String(json.msg).split(/: \d+ of \d+ in use/);
  return text;
}

function contents(lab: HostLocalLab): readonly string[] {
  return lab.exists ? lab.files().map((name) => `${name}: ${JSON.stringify(lab.read(name))}`) : [];
}
