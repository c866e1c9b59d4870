/** All that a fake namespace holds, as lines of text. */
import { classOf } from '../../tc/class.ts';
import { filterOf } from '../../tc/filter.ts';
import { formatHandle } from '../../tc/handle.ts';
import { qdiscOf } from '../../tc/qdisc.ts';
import type { Namespace } from '../core/namespace.ts';
import { dumpNetwork, nameOf } from './network.ts';
import { dumpRuleset } from './nft.ts';
import { words } from './words.ts';

/**
 * The lines of a namespace, each of which stands for itself. Equal namespaces give equal lines: what only
 * counts up, such as indexes and handles, is left out.
 */
export function dumpNamespace(namespace: Namespace): string[] {
  const lines = [
    ...dumpNetwork(namespace),
    ...dumpTraffic(namespace),
    ...dumpRuleset(namespace),
    ...dumpFlows(namespace),
    ...dumpSettings(namespace),
  ];
  return lines.map((line) => `${namespace.name}: ${line}`);
}

/**
 * What changed between two dumps: lines that went, behind `-`, then lines that came, behind `+`. Empty when
 * nothing did.
 *
 * @example assert.equal(dumpDifference(before, kernel.dump()), '');
 */
export function dumpDifference(before: string, after: string): string {
  const [gone, come] = [lacking(before, after), lacking(after, before)];
  return [...gone.map((line) => `- ${line}`), ...come.map((line) => `+ ${line}`)].join('\n');
}

function lacking(dump: string, other: string): string[] {
  const counts = new Map<string, number>();
  for (const line of other.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
  return dump.split('\n').filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0 && line !== '';
  });
}

function dumpTraffic(namespace: Namespace): string[] {
  const line = (what: string, link: number, kind: string, parent: number, handle: number, options: unknown) =>
    words(
      `${what} ${kind} ${formatHandle(handle)} dev ${nameOf(namespace, link)} parent ${formatHandle(parent)}`,
      options !== undefined && JSON.stringify(options),
    );
  return [
    ...namespace.qdiscs
      .map(qdiscOf)
      .map(({ link, kind, parent, handle, tbf, htb }) =>
        line('qdisc', link, kind, parent, handle, tbf ?? htb),
      ),
    ...namespace.classes
      .map(classOf)
      .map(({ link, kind, parent, handle, htb }) => line('class', link, kind, parent, handle, htb)),
    ...namespace.filters
      .map(filterOf)
      .filter((filter) => filter !== undefined)
      .map(({ link, kind, parent, priority, protocol, u32, matchall }) =>
        words(
          `filter ${kind} dev ${nameOf(namespace, link)} parent ${formatHandle(parent)} pref ${priority} protocol ${protocol}`,
          JSON.stringify(u32 ?? matchall),
        ),
      ),
  ];
}

function dumpFlows({ flows }: Namespace): string[] {
  return flows.map(({ protocol, original, reply, mark, zone }) =>
    words(
      `flow ${protocol}`,
      ...[original, reply].map(({ src, dst, sport, dport }) =>
        words(`${src}`, sport !== undefined && `${sport}`, `> ${dst}`, dport !== undefined && `${dport}`),
      ),
      mark !== 0 && `mark ${mark}`,
      zone !== 0 && `zone ${zone}`,
    ),
  );
}

/** The kernel parameters that differ from the defaults. */
function dumpSettings(namespace: Namespace): string[] {
  return [...namespace.settings.changed()]
    .map(([key, value]) => {
      const [family, place = '', name] = key.split(' ');
      if (name === undefined) return `sysctl ${key} = ${value}`;
      const where = /^\d+$/.test(place) ? nameOf(namespace, Number(place)) : place;
      return `sysctl net/${family}/conf/${where}/${name} = ${value}`;
    })
    .toSorted();
}
