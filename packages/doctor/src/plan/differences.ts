/** What is in one snapshot and not in another. */
import { type Item, MATTERS } from './snapshot.ts';

/** A line that came or went. */
export interface Difference extends Item {
  readonly sign: '+' | '-';
}

/** Ordered by matter; of one matter, what went comes first. Parameters of a link that came or went are left out. */
export function differences(before: readonly Item[], after: readonly Item[]): readonly Difference[] {
  const gone = missingFrom(after, before);
  const come = missingFrom(before, after);
  const all = [
    ...withoutParameters(gone, after).map((item) => ({ ...item, sign: '-' as const })),
    ...withoutParameters(come, before).map((item) => ({ ...item, sign: '+' as const })),
  ];
  return all.toSorted((a, b) => MATTERS.indexOf(a.matter) - MATTERS.indexOf(b.matter));
}

/** Of equal items each counts. */
function missingFrom(from: readonly Item[], items: readonly Item[]): readonly Item[] {
  const counts = new Map<string, number>();
  for (const { matter, text } of from) {
    counts.set(`${matter} ${text}`, (counts.get(`${matter} ${text}`) ?? 0) + 1);
  }
  return items.filter(({ matter, text }) => {
    const count = counts.get(`${matter} ${text}`) ?? 0;
    counts.set(`${matter} ${text}`, count - 1);
    return count <= 0;
  });
}

/** A link that is not on the other side brings parameters, or takes them away. */
function withoutParameters(items: readonly Item[], other: readonly Item[]): readonly Item[] {
  const links = new Set(
    other.flatMap(({ matter, text }) => (matter === 'link' ? [text.slice(0, text.indexOf(':'))] : [])),
  );
  // The kernel sets those of all links together with the one of the node.
  const forwarding = items.some(({ text }) =>
    /^net\/ipv[46]\/(ip_forward|conf\/all\/forwarding) =/.test(text),
  );
  return items.filter(({ matter, text }) => {
    if (forwarding && matter === 'parameter' && /\/conf\/(?!all\/)[^/]+\/forwarding =/.test(text))
      return false;
    const link = matter === 'parameter' ? /^net\/ipv[46]\/conf\/([^/]+)\//.exec(text)?.[1] : undefined;
    return link === undefined || link === 'all' || link === 'default' || links.has(link);
  });
}
