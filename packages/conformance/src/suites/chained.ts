import { isJsonObject, type JsonObject, renderResult } from '@heddle/cni';
import { type Check, only, spec } from '../check.ts';
import { must } from '../failure.ts';
import { outcome } from '../lab/lab.ts';
import { snapshotOf } from '../lab/snapshot.ts';
import { refusal } from './errors.ts';
import { containerUnchanged, nodeUnchanged } from './unchanged.ts';

const PASS = spec(
  'Section 5, ADD Success',
  'must output it as their result, with any possible modifications made by that plugin included',
);

/** Plugins that change what an earlier one has made. */
export const CHAINED_CHECKS: readonly Check[] = [
  {
    id: 'chained/passes-on',
    title: 'the result has all that the previous result had: interfaces, addresses, routes and name servers',
    cites: PASS,
    why: 'The last result of a chain is what the runtime remembers, and tells the cluster.',
    skips: only('chained'),
    async run(lab) {
      const container = await lab.container();
      const { json, call } = await lab.add(container);
      const { upstream } = container;
      must(upstream !== undefined, 'an earlier plugin', 'none');
      const before = renderResult(upstream, lab.subject.version);
      for (const key of ['interfaces', 'ips', 'routes'] as const) {
        const lost = items(before[key]).filter(
          (item) => !items(json[key]).some((each) => covers(each, item)),
        );
        must(
          lost.length === 0,
          `${key} of the previous result in the result`,
          () => `these are lost: ${JSON.stringify(lost)}`,
          call,
        );
      }
      must(
        covers(json['dns'], before['dns']),
        'dns of the previous result',
        () => JSON.stringify(json['dns'] ?? null),
        call,
      );
    },
  },
  {
    id: 'chained/keeps-order',
    title: 'interfaces keep their places, so that addresses still say the right one',
    cites: PASS,
    why: '`ips` name interfaces by their place in the list.',
    skips: only('chained'),
    async run(lab) {
      const container = await lab.container();
      const { result, call } = await lab.add(container);
      const before = container.upstream?.interfaces?.map(({ name }) => name) ?? [];
      const after = result.interfaces?.map(({ name }) => name).slice(0, before.length) ?? [];
      must(after.join() === before.join(), `interfaces ${before.join(', ')} first`, after.join(', '), call);
    },
  },
  {
    id: 'chained/several-interfaces',
    title: 'a previous result with several interfaces and containers is passed on whole',
    cites: PASS,
    why: 'Virtual machines and pods with several networks have them.',
    skips: only('chained'),
    async run(lab) {
      const container = await lab.container();
      const { upstream } = container;
      must(upstream !== undefined, 'an earlier plugin', 'none');
      const more = { name: 'other0', mac: '02:00:00:00:00:99', sandbox: '/run/netns/somebody-else' };
      const result = { ...upstream, interfaces: [...(upstream.interfaces ?? []), more] };
      const prevResult = renderResult(result, lab.subject.version);
      const { json, call } = await lab.add(container, { prevResult });
      const kept = items(json['interfaces']).some((each) => covers(each, { name: 'other0' }));
      must(kept, 'the interface other0 in the result', () => outcome(call), call);
    },
  },
  {
    id: 'chained/needs-previous',
    title: 'ADD without a previous result is refused, and nothing is made',
    cites: 'beyond the spec',
    why: 'The plugin stands at the wrong place of the list; silence would hide that.',
    skips: only('chained'),
    async run(lab) {
      const container = await lab.container();
      const before = [await lab.snapshot(), await snapshotOf(container.namespace)] as const;
      refusal(await lab.call('ADD', container, { prevResult: null }), 'for ADD without a previous result');
      await nodeUnchanged(lab, before[0], 'the refused ADD');
      await containerUnchanged(container, before[1], 'the refused ADD');
    },
  },
  {
    id: 'chained/broken-previous',
    title: 'a previous result that is none is refused, and nothing is made',
    cites: 'beyond the spec',
    why: 'Going on with half of it would set up half of the container.',
    skips: only('chained'),
    async run(lab) {
      const container = await lab.container();
      const before = [await lab.snapshot(), await snapshotOf(container.namespace)] as const;
      const cniVersion = lab.subject.version;
      for (const prevResult of [
        'text',
        { cniVersion, ips: 'none' },
        { cniVersion, ips: [{ address: '10.1.2.300/24' }] },
        { cniVersion: '7.7.7', ips: [] },
      ]) {
        const call = await lab.call('ADD', container, { prevResult });
        refusal(call, `for the previous result ${JSON.stringify(prevResult)}`);
      }
      await nodeUnchanged(lab, before[0], 'the refused ADDs');
      await containerUnchanged(container, before[1], 'the refused ADDs');
    },
  },
  {
    id: 'chained/undoes',
    title: 'DEL takes back what ADD did to the interface, and leaves the interface',
    cites: spec('Section 2, DEL', "undo any modifications applied in the plugin's `ADD` functionality"),
    why: 'DEL of a chain goes backwards: the plugin before is to find what it has made.',
    skips: only('chained'),
    async run(lab) {
      const container = await lab.container();
      const before = await snapshotOf(container.namespace);
      await lab.add(container);
      await lab.del(container);
      await containerUnchanged(container, before, 'ADD and DEL');
    },
  },
];

function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether `value` has all that `wanted` has; it may have more. */
function covers(value: unknown, wanted: unknown): boolean {
  if (!isJsonObject(wanted)) return JSON.stringify(value) === JSON.stringify(wanted);
  return (
    isJsonObject(value) &&
    Object.entries(wanted as JsonObject).every(([key, each]) => covers(value[key], each))
  );
}
