/** What a look at a node or at files came to, in the order in which a person wants to read it. */
import { type Finding, SEVERITIES } from '../finding.ts';
import type { Rules } from '../rule.ts';
import type { Silenced } from '../silence.ts';

/** All that the renderers print. */
export interface Report {
  /** Ordered; see {@link inOrder}. */
  readonly findings: readonly Finding[];
  /** What the operator does not want to be told of. */
  readonly silenced: readonly Silenced[];
  /** What was looked at, as the last line of the text says it: `3 files in /etc/cni/net.d`. */
  readonly checked: string;
}

/** Findings with the likeliest cause first: by severity, then by the order of the rules, then by place. */
export function inOrder(findings: readonly Finding[], rules: Rules): readonly Finding[] {
  const rank = new Map([...rules.keys()].map((id, index) => [id, index]));
  const place = ({ place, subject = '' }: Finding) => place?.file ?? subject;
  return findings.toSorted(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      (rank.get(a.id) ?? rank.size) - (rank.get(b.id) ?? rank.size) ||
      compareTexts(place(a), place(b)) ||
      (a.place?.line ?? 0) - (b.place?.line ?? 0) ||
      (a.place?.column ?? 0) - (b.place?.column ?? 0),
  );
}

/** How many findings there are of each severity, in words: `2 errors, 1 note`. */
export function countWords(findings: readonly Finding[]): string {
  const counts = SEVERITIES.map((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return { severity, count };
  }).filter(({ count }) => count > 0);
  return counts.map(({ severity, count }) => `${count} ${severity}${count === 1 ? '' : 's'}`).join(', ');
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
