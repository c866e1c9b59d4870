/** Random changes, made to the fake kernel and to the real one: they are refused alike and come to the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { createNetns } from '@heddle/sys';
import fc from 'fast-check';
import { NetlinkError } from '../../core/netlink-error.ts';
import { openSession } from '../../session/session.ts';
import { FakeKernel } from '../fake-kernel.ts';
import type { Place } from './case.ts';
import { reasonToSkip } from './kernel-release.ts';
import { routesOf } from './routes-text.ts';

/** A change, and how it is written down when it goes wrong. */
interface Step {
  readonly text: string;
  run(place: Place): Promise<unknown>;
}

const step = (text: string, run: Step['run']): Step => ({ text, run });
const from = <const T>(...values: readonly T[]) => fc.constantFrom(...values);

const name = from('hd0', 'hd1', 'hd2', 'hdbr');
const prefix4 = from('10.0.0.1/24', '10.0.0.2/24', '10.0.1.1/24', '10.0.0.1/16', '192.0.2.1/32').map(
  Prefix.parse,
);
const prefix6 = from('fd00::1/64', 'fd00::2/64', 'fd00:1::1/64', 'fd00::1/128').map(Prefix.parse);
const dst4 = from('0.0.0.0/0', '198.51.100.0/24', '198.51.0.0/16').map(Prefix.parse);
const gateway4 = from('10.0.0.9', '10.0.1.9', '203.0.113.1', '10.0.0.1').map(Addr.parse);
const dst6 = from('::/0', '2001:db8::/48', '2001:db8:1::/48').map(Prefix.parse);
const gateway6 = from('fd00::9', 'fd00:1::9', '2001:db9::1').map(Addr.parse);

const links: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(name, name, fc.boolean())
    .map(([a, b, inPod]) =>
      step(`add veth ${a} peer ${b}${inPod ? ' in pod' : ''}`, ({ host, pod }) =>
        host.links.add({ name: a, kind: 'veth', peer: inPod ? { name: b, netns: pod.handle } : { name: b } }),
      ),
    ),
  name.map((a) => step(`add bridge ${a}`, ({ host }) => host.links.add({ name: a, kind: 'bridge' }))),
  name.map((a) => step(`delete ${a}`, ({ host }) => host.links.delete(a))),
  fc
    .tuple(name, fc.boolean())
    .map(([a, up]) => step(`set ${a} ${up ? 'up' : 'down'}`, ({ host }) => host.links.set(a, { up }))),
  fc
    .tuple(name, name)
    .map(([a, b]) => step(`set ${a} master ${b}`, ({ host }) => host.links.set(a, { master: b }))),
  name.map((a) => step(`set ${a} nomaster`, ({ host }) => host.links.set(a, { master: 0 }))),
  fc
    .tuple(name, name)
    .map(([a, b]) => step(`set ${a} name ${b}`, ({ host }) => host.links.set(a, { name: b }))),
  fc
    .tuple(name, from(60, 1280, 1400, 9000))
    .map(([a, mtu]) => step(`set ${a} mtu ${mtu}`, ({ host }) => host.links.set(a, { mtu }))),
  name.map((a) => step(`set ${a} netns pod`, ({ host, pod }) => host.links.set(a, { netns: pod.handle }))),
  name.map((a) => step(`bring ${a} back`, ({ host, pod }) => pod.links.set(a, { netns: host.handle }))),
);

const addresses: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(name, prefix4, fc.boolean())
    .map(([link, prefix, brd]) =>
      step(`add ${prefix} to ${link}`, ({ host }) =>
        host.addresses.add({ link, prefix, ...(brd && { broadcast: 'auto' }) }),
      ),
    ),
  fc
    .tuple(name, prefix6)
    .map(([link, prefix]) =>
      step(`add ${prefix} to ${link}`, ({ host }) => host.addresses.add({ link, prefix, noDad: true })),
    ),
  fc
    .tuple(name, fc.oneof(prefix4, prefix6))
    .map(([link, prefix]) =>
      step(`delete ${prefix} from ${link}`, ({ host }) => host.addresses.delete({ link, prefix })),
    ),
);

const verb = from('add', 'append', 'replace', 'delete');
const metric = from(undefined, 5, 7);

const routes: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(verb, dst4, fc.option(gateway4, { nil: undefined }), fc.option(name, { nil: undefined }), metric)
    .map(routeStep),
  fc
    .tuple(verb, dst6, fc.option(gateway6, { nil: undefined }), fc.option(name, { nil: undefined }), metric)
    .map(routeStep),
  fc
    .tuple(from('add', 'delete'), fc.oneof(dst4, dst6), from('blackhole', 'unreachable'))
    .map(([what, dst, type]) =>
      step(`${what} ${type} ${dst}`, ({ host }) => host.routes[what]({ dst, type })),
    ),
);

function routeStep([what, dst, gateway, link, priority]: readonly [
  'add' | 'append' | 'replace' | 'delete',
  Prefix,
  Addr | undefined,
  string | undefined,
  number | undefined,
]): Step {
  const text = `${what} route ${dst} via ${gateway} dev ${link} metric ${priority}`;
  return step(text, ({ host }) => host.routes[what]({ dst, gateway, link, metric: priority }));
}

/** What came of a step: nothing, or the errno. */
async function outcome({ run }: Step, place: Place): Promise<string> {
  try {
    await run(place);
    return 'done';
  } catch (error) {
    if (error instanceof NetlinkError) return error.errno;
    throw error;
  }
}

/** What there is, but for what comes about in the kernel's own time or by chance. */
async function state({ host, pod }: Place): Promise<unknown> {
  const described = [];
  for (const session of [host, pod]) {
    const all = await session.links.list();
    const nameOf = new Map(all.map((link) => [link.index, link.name]));
    described.push({
      links: all.map(({ index, name, kind, mtu, up, master, promiscuity }) => ({
        ...{ index, name, kind, mtu, up, promiscuity },
        master: master === undefined ? undefined : nameOf.get(master),
      })),
      addresses: (await session.addresses.list())
        .filter(({ scope }) => scope === 0)
        .map(({ prefix, link, flags, broadcast }) => `${prefix} ${nameOf.get(link)} ${flags} ${broadcast}`),
      ipv4: await routesOf(session, 4),
      // The kernel makes the routes to addresses of IPv6 in a work queue of its own.
      ipv6: (await routesOf(session, 6)).filter(
        (route) => !route.startsWith('local') && !route.startsWith('anycast'),
      ),
    });
  }
  return described;
}

test('links, addresses and routes, changed at random, are the same in both', {
  skip: reasonToSkip() ?? false,
}, async () => {
  const steps = fc.array(fc.oneof(links, links, addresses, addresses, routes), {
    minLength: 5,
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (chosen) => {
      const kernel = new FakeKernel();
      using hostNetns = createNetns();
      using podNetns = createNetns();
      using fakeHost = kernel.session('host');
      using fakePod = kernel.session('pod');
      using host = openSession({ netns: hostNetns, mode: 'sync' });
      using pod = openSession({ netns: podNetns, mode: 'sync' });
      const [fake, real] = [
        { host: fakeHost, pod: fakePod },
        { host, pod },
      ];
      const done: string[] = [];
      for (const each of chosen) {
        const wanted = await outcome(each, real);
        done.push(`${each.text}: ${wanted}`);
        assert.equal(await outcome(each, fake), wanted, done.join('\n'));
        assert.deepEqual(await state(fake), await state(real), done.join('\n'));
      }
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

const RUNS = 30;
/** The same steps every time, so that a failure is one of the code. */
const SEED = 20_261_130;
