import { isJsonObject, type JsonObject, type JsonValue } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import { allOf, type Check, only, since, spec } from '../check.ts';
import { DoesNotApply, must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import type { Lab } from '../lab/lab.ts';
import { snapshotOf } from '../lab/snapshot.ts';
import type { Subject } from '../subject/subject.ts';
import { added, type Drift, TRACKED, UNTRACKED } from './drift.ts';
import { refusal } from './errors.ts';
import { containerUnchanged, nodeUnchanged } from './unchanged.ts';
import { mustBeSound } from './unless-always.ts';

const can = since('0.4.0');
const makes = allOf(can, (subject: Subject) =>
  subject.makesInterface ? undefined : 'about plugins that make an interface',
);

/** CHECK sees what is wrong, and nothing else. */
export const CHECK_CHECKS: readonly Check[] = [
  {
    id: 'check/right-after-add',
    title: 'CHECK succeeds right after ADD, and again',
    cites: spec('Section 2, CHECK', 'The plugin must handle `CHECK` being called immediately after an `ADD`'),
    why: 'A false alarm makes the runtime kill a sound container.',
    skips: can,
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      for (let time = 0; time < 3; time++) await lab.check(container);
    },
  },
  {
    id: 'check/changes-nothing',
    title: 'CHECK changes nothing',
    cites: spec(
      'Section 2, CHECK',
      '`CHECK` is a way for a runtime to probe the status of an existing container',
    ),
    why: 'It is asked every few seconds.',
    skips: can,
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      const before = [await lab.snapshot(), await snapshotOf(container.namespace)] as const;
      await mustBeSound(lab, container);
      await nodeUnchanged(lab, before[0], 'CHECK');
      await containerUnchanged(container, before[1], 'CHECK');
    },
  },
  {
    id: 'check/several-containers',
    title: 'CHECK of one container succeeds while others come and go',
    cites: spec(
      'Section 3, Lifecycle & Ordering',
      'Plugins must handle being executed concurrently across different containers',
    ),
    why: 'What is shared changes with every container.',
    skips: can,
    async run(lab) {
      const [first, second] = await lab.containers(2);
      must(first !== undefined && second !== undefined, 'two containers', 'fewer');
      await lab.add(first);
      await lab.add(second, { config: lab.subject.object(second.n) }).catch((error: unknown) => {
        if (lab.subject.setup.allocates !== false) throw error;
      });
      await mustBeSound(lab, first);
      await lab.del(second);
      await mustBeSound(lab, first);
    },
  },
  {
    id: 'check/after-del',
    title: 'CHECK fails for a container that was detached',
    cites: spec('Section 2, CHECK', 'is listed in `prevResult`, but is missing or in an invalid state'),
    why: 'It is not there.',
    skips: allOf(can, ({ kind, allocates }: Subject) =>
      kind === 'ipam' && !allocates ? 'the plugin keeps nothing' : undefined,
    ),
    async run(lab) {
      const container = await lab.container();
      const before = [await lab.snapshot(), await snapshotOf(container.namespace)] as const;
      await lab.add(container);
      const made = [
        ...added(before[0], await lab.snapshot()),
        ...added(before[1], await snapshotOf(container.namespace)),
      ];
      await lab.del(container);
      if (made.length === 0) throw new DoesNotApply('ADD makes nothing that could be missed');
      refusal(await lab.call('CHECK', container), 'from CHECK after DEL');
    },
  },
  {
    id: 'check/needs-previous-result',
    title: 'CHECK without a previous result is refused',
    cites: spec(
      'Section 2, CHECK',
      'The plugin must consult the `prevResult` to determine the expected interfaces and addresses',
    ),
    why: 'What it does not know it cannot find missing.',
    skips: makes,
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      refusal(
        await lab.call('CHECK', container, { prevResult: null }),
        'from CHECK without a previous result',
      );
    },
  },
  ...TRACKED.map((drift) =>
    notices(drift, makes, 'is listed in `prevResult`, but is missing or in an invalid state'),
  ),
  ...UNTRACKED.map((drift) =>
    notices(
      drift,
      can,
      'if other resources not tracked in the Result type such as the following are missing',
    ),
  ),
  {
    id: 'check/link-down',
    title: 'CHECK fails while the interface is down',
    cites: spec(
      'Section 2, CHECK',
      'if it is aware of a condition where the container is generally unreachable',
    ),
    why: 'Nothing comes in.',
    skips: makes,
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      await container.namespace.session.links.set(container.ifName, { up: false });
      refusal(await lab.call('CHECK', container), 'from CHECK while the interface is down');
    },
  },
  {
    id: 'check/tolerates-routes',
    title: 'CHECK tolerates routes that a later plugin has added, moved to another table, or replaced',
    cites: spec(
      'Section 2, CHECK',
      'must allow for a later chained plugin to have modified networking resources, e.g. routes',
    ),
    why: 'sbr and vrf do that; every CHECK of such a chain would fail.',
    skips: makes,
    async run(lab) {
      const container = await lab.container();
      const { json } = await lab.add(container);
      const { session } = container.namespace;
      const route = (await session.routes.list()).find(({ dst }) => dst.equals(Prefix.DEFAULT4));
      const link = container.ifName;
      if (route?.gateway !== undefined) {
        const { gateway } = route;
        await session.routes.add({ dst: route.dst, gateway, link, table: 100 });
        await session.routes.delete({ dst: route.dst, gateway, link });
        await session.routes.add({ dst: Prefix.parse('198.51.100.0/24'), gateway, link });
      }
      const moved = withoutDefaultRoute(json, lab.subject.speaks('1.1.0'));
      const why = lab.subject.speaks('1.1.0')
        ? ': the result says that the route is in table 100'
        : ': the result no longer has the route';
      await mustBeSound(lab, container, { prevResult: moved, why });
    },
  },
  {
    id: 'check/tolerates-additions',
    title: 'CHECK tolerates interfaces and addresses that a later plugin has added',
    cites: spec(
      'Section 2, CHECK',
      'must allow for a later chained plugin to have modified networking resources, e.g. routes',
    ),
    why: 'A chain is there to add things.',
    skips: allOf(can, only('interface', 'chained')),
    async run(lab) {
      const container = await lab.container();
      const { json } = await lab.add(container);
      await addMore(lab, container);
      const interfaces = Array.isArray(json['interfaces']) ? json['interfaces'] : [];
      const four = lab.subject.version.startsWith('0.') ? { version: '4' } : {};
      const prevResult = {
        ...json,
        interfaces: [...interfaces, { name: 'later0', sandbox: container.netns }],
        ips: [
          ...(Array.isArray(json['ips']) ? json['ips'] : []),
          { ...four, address: '198.51.100.7/24', interface: interfaces.length },
        ],
      };
      await mustBeSound(lab, container, { prevResult, why: ': later0 is not its own' });
    },
  },
];

/**
 * A result whose default route of IPv4 a later plugin has moved to table 100. Before 1.1.0 results cannot say so, and it is
 * left out.
 */
function withoutDefaultRoute(result: JsonObject, hasTables: boolean): JsonObject {
  const { routes } = result;
  if (!Array.isArray(routes)) return result;
  const isMoved = (route: JsonValue) => isJsonObject(route) && route['dst'] === '0.0.0.0/0';
  return {
    ...result,
    routes: hasTables
      ? routes.map((route) => (isMoved(route) ? { dst: '0.0.0.0/0', table: 100 } : route))
      : routes.filter((route) => !isMoved(route)),
  };
}

/** An interface with an address, as a later plugin would make it. */
async function addMore(_lab: Lab, { namespace }: Container): Promise<void> {
  const { session } = namespace;
  await session.links.add({ kind: 'veth', name: 'later0', up: true, peer: { name: 'laterfar' } });
  const prefix = Prefix.of(Addr.parse('198.51.100.7'), 24);
  await session.addresses.add({ link: 'later0', prefix });
}

function notices(drift: Drift, skips: NonNullable<Check['skips']>, words: string): Check {
  return {
    id: `check/notices-${drift.name}`,
    title: `CHECK fails when what ADD made is gone: ${drift.name.replaceAll('-', ' ')}`,
    cites: spec('Section 2, CHECK', words),
    why: 'Nobody else would tell why the container is cut off, or why its address was given to another one.',
    skips,
    async run(lab) {
      const container = await lab.container();
      const before = [await lab.snapshot(), await snapshotOf(container.namespace)] as const;
      await lab.add(container);
      const onNode = added(before[0], await lab.snapshot());
      const inContainer = added(before[1], await snapshotOf(container.namespace));
      const spoilt = await drift.spoil({ lab, container, onNode, inContainer });
      if (spoilt === undefined) throw new DoesNotApply('ADD makes nothing of the kind');
      refusal(await lab.call('CHECK', container), `from CHECK after the loss of ${spoilt}`);
    },
  };
}
