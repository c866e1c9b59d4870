/** The three shapes that results have had, and which version has which. */

/** `legacy` has ip4 and ip6; `middle` has ips with a version; `current` is today's. */
export type ResultGroup = 'legacy' | 'middle' | 'current';

/** The shape of a version's results; `undefined` for a version that was never released. */
export function groupOf(version: string): ResultGroup | undefined {
  return NEWEST_FIRST.find((group) => GROUPS[group].includes(version));
}

/** The versions that share a shape. */
export function versionsOf(group: ResultGroup): readonly string[] {
  return GROUPS[group];
}

const GROUPS: Readonly<Record<ResultGroup, readonly string[]>> = {
  legacy: ['0.1.0', '0.2.0'],
  middle: ['0.3.0', '0.3.1', '0.4.0'],
  current: ['1.0.0', '1.1.0'],
};

const NEWEST_FIRST: readonly ResultGroup[] = ['current', 'middle', 'legacy'];
