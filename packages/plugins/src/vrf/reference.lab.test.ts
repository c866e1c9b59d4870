/** The reference's plugin and this one: same VRFs, same routes, but for what docs/differences.md lists. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PluginError } from '@heddle/cni';
import { type LabCall, type LabRequest, ReferencePlugins } from '../testing/index.ts';
import { VrfScene } from './testing.ts';

interface Release {
  readonly name: string;
  readonly plugins: ReferencePlugins | undefined;
  readonly absent: string;
  /** The packaged release loses routes by gateways (containernetworking/plugins#866). */
  readonly movesRoutes: boolean;
  /** The CHECK of the packaged release looks at nothing. */
  readonly checks: boolean;
}

const RELEASES: readonly Release[] = [
  {
    name: 'packaged',
    plugins: ReferencePlugins.find(),
    absent: ReferencePlugins.ABSENT,
    movesRoutes: false,
    checks: false,
  },
  {
    name: 'current',
    plugins: ReferencePlugins.findCurrent(),
    absent: ReferencePlugins.ABSENT_CURRENT,
    movesRoutes: true,
    checks: true,
  },
];

type Step = readonly [command: 'ADD' | 'CHECK' | 'DEL', ifName: string, config?: object];

interface Case {
  readonly what: string;
  /** Interfaces and their addresses, other than `eth0` and `eth1` with a network each of both families. */
  readonly links?: Readonly<Record<string, readonly string[]>>;
  /** What is in the container besides, as commands of `ip`. */
  readonly besides?: readonly string[];
  readonly steps: readonly Step[];
  /** Which routes are compared; all unless it says otherwise. */
  readonly isAlike?: (route: string) => boolean;
}

const TWO = {
  eth0: ['192.0.2.10/24', 'fd00::10/64', 'fd00::11/64'],
  eth1: ['198.51.100.7/24', 'fd01::7/64'],
} as const;
const EQUAL = { eth0: ['192.0.2.10/24', 'fd00::10/64'], eth1: ['192.0.2.10/24', 'fd00::10/64'] } as const;
const OTHER = { vrfname: 'vrf1' } as const;

/** An interface in each of two VRFs, or both in one, in and out again. */
const bothWays = (first: object, second: object): readonly Step[] => [
  ['ADD', 'eth0', first],
  ['CHECK', 'eth0', first],
  ['ADD', 'eth1', second],
  ['CHECK', 'eth1', second],
  ['DEL', 'eth0', first],
  ['DEL', 'eth1', second],
];

const CASES: readonly Case[] = [
  { what: 'two interfaces in one VRF', steps: bothWays({}, {}) },
  { what: 'two interfaces in two VRFs', steps: bothWays({}, OTHER) },
  {
    ...{ what: 'equal addresses in one VRF', links: EQUAL, steps: bothWays({}, {}) },
    // The current release puts the second interface's IPv6 network in the place of the first's.
    isAlike: (route) => !route.includes('::'),
  },
  { what: 'equal addresses in two VRFs', links: EQUAL, steps: bothWays({}, OTHER) },
  { what: 'one VRF, its table named twice', steps: bothWays({ table: 1001 }, { table: 1001 }) },
  { what: 'two VRFs of one table', steps: bothWays({ table: 1001 }, { ...OTHER, table: 1001 }) },
  { what: 'one VRF with two tables', steps: bothWays({ table: 1001 }, { table: 1002 }) },
  {
    what: 'routes of the interface, and those of another',
    besides: [
      'route add 203.0.113.0/24 via 192.0.2.1 dev eth0',
      '-6 route add default via fd00::1 dev eth0',
      'route add 10.3.0.0/16 via 198.51.100.1 dev eth1',
      '-6 route add fd09::/64 via fd01::1 dev eth1',
    ],
    steps: [
      ['ADD', 'eth0'],
      ['CHECK', 'eth0'],
      ['DEL', 'eth0'],
    ],
  },
  {
    what: 'an interface that has a master',
    besides: ['link add br0 type bridge', 'link set eth0 master br0'],
    steps: [['ADD', 'eth0']],
  },
  {
    what: 'a link of the name that is no VRF',
    besides: ['link add vrf0 type dummy'],
    steps: [['ADD', 'eth0']],
  },
  {
    what: 'tables that other VRFs have',
    besides: ['link add va type vrf table 1', 'link add vb type vrf table 2', 'link add vc type vrf table 4'],
    steps: [['ADD', 'eth0']],
  },
  {
    what: 'no name',
    steps: (['ADD', 'CHECK', 'DEL'] as const).map((verb) => [verb, 'eth0', { vrfname: '' }]),
  },
  { what: 'no interface of the name', steps: [['ADD', 'eth7']] },
  {
    what: 'a DEL of what was never added',
    steps: [
      ['CHECK', 'eth0'],
      ['DEL', 'eth0'],
    ],
  },
  ...['0.3.0', '0.3.1', '0.4.0'].map((cniVersion) => ({
    what: `version ${cniVersion}`,
    steps: (['ADD', 'CHECK', 'DEL'] as const).map((verb) => [verb, 'eth0', { cniVersion }] as const),
  })),
];

for (const { name, plugins, absent, movesRoutes, checks } of RELEASES) {
  describe(`vrf: the ${name} reference and this plugin`, { skip: plugins === undefined && absent }, () => {
    const theirs = (scene: VrfScene, call: LabCall): string =>
      (plugins ?? assert.fail('skipped')).run(scene.lab.host, call);

    for (const { what, links = TWO, besides = [], steps, isAlike = () => true } of CASES) {
      test(`do the same: ${what}`, async () => {
        const seen: unknown[] = [];
        for (const isOurs of [false, true]) {
          using scene = await VrfScene.create(links);
          for (const command of besides) scene.ip(...command.split(' '));
          // An interface that leaves its VRF loses what it has of IPv6, and its routes by gateways, with theirs alone.
          const hasLeft: string[] = [];
          const look = () =>
            stateOf(scene, Object.keys(links), {
              address: (address, link) => !hasLeft.includes(link) || !isIPv6(address),
              route: (route) =>
                isAlike(route) &&
                (movesRoutes || !isVia(route)) &&
                !((isIPv6(route) || isVia(route)) && hasLeft.some((link) => route.endsWith(` dev ${link}`))),
            });
          const states: unknown[] = [];
          for (const [command, ifName, config] of steps) {
            const before = await look();
            const call = { ...callOf(scene, ifName, config), command };
            const answer = await answerOf(() => (isOurs ? ourAnswer(scene, call) : theirs(scene, call)));
            if (command === 'DEL' && answer !== 'refused') hasLeft.push(ifName);
            const after = await look();
            // What theirs made before it refused, it leaves.
            if (isOurs && answer === 'refused') assert.deepEqual(after, before);
            if (command === 'CHECK' && !checks) continue;
            states.push([command, ifName, answer, ...(answer === 'refused' ? [] : [after])]);
          }
          seen.push(states);
        }
        const [expected, actual] = seen;
        assert.deepEqual(actual, expected);
      });
    }

    test('each takes down what the other set up', async () => {
      using scene = await VrfScene.create({ eth0: ['192.0.2.10/24'] });
      const request: LabRequest = scene.request('eth0');
      theirs(scene, { ...request, command: 'ADD' });
      await scene.lab.check(request);
      await scene.lab.del(request);
      assert.deepEqual(await scene.vrfs(), {});
      await scene.lab.add(request);
      theirs(scene, { ...request, command: 'CHECK' });
      theirs(scene, { ...request, command: 'DEL' });
      assert.deepEqual(await scene.vrfs(), {});
    });
  });
}

/** A call whose previous result is of the configuration's version. */
function callOf(scene: VrfScene, ifName: string, config: object = {}): LabRequest {
  const request = scene.request(ifName, config);
  const { cniVersion } = request.config;
  return { ...request, prevResult: { ...(request.prevResult as object), cniVersion } };
}

async function ourAnswer(scene: VrfScene, call: LabCall): Promise<string> {
  const { exitCode, stdout } = await scene.lab.run(call);
  if (exitCode === 0) return stdout;
  throw PluginError.fromJson('vrf', JSON.parse(stdout));
}

/** What a plugin prints, or that it refuses. */
async function answerOf(ask: () => string | Promise<string>): Promise<unknown> {
  try {
    const stdout = await ask();
    if (stdout === '') return 'nothing';
    // The packaged release prints an empty dns.
    const { dns: _, ...result } = JSON.parse(stdout);
    return JSON.parse(JSON.stringify(result).replace(/"\/proc\/[^"]*"/g, '"SANDBOX"'));
  } catch (error) {
    assert.ok(error instanceof PluginError, String(error));
    return 'refused';
  }
}

async function stateOf(
  scene: VrfScene,
  links: readonly string[],
  isCompared: {
    address(address: string, link: string): boolean;
    route(route: string): boolean;
  },
): Promise<unknown> {
  const vrfs = await scene.vrfs();
  const tables = [...new Set([MAIN, ...Object.values(vrfs).map(({ table }) => table)])];
  const routes = await Promise.all(tables.map((table) => scene.routes(table)));
  const addresses = await Promise.all(links.map((link) => scene.addresses(link)));
  return {
    vrfs,
    addresses: addresses.map((each, index) =>
      each.filter((address) => isCompared.address(address, links[index] ?? '')).sort(),
    ),
    routes: routes.map((each) => each.filter(isCompared.route)),
  };
}

function isIPv6(text: string): boolean {
  return text.includes(':');
}

function isVia(route: string): boolean {
  return route.includes(' via ');
}

const MAIN = 254;
