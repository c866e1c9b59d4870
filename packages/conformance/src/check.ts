/** What a check is: one statement about a plugin, the sentence that it rests on, and how it is tried. */
import type { Lab } from './lab/lab.ts';
import type { Subject } from './subject/subject.ts';

/** The suites, in the order in which they run; the last one is about runtimes, all others are about plugins. */
export const SUITES = [
  'contract',
  'interface',
  'chained',
  'ipam',
  'idempotence',
  'check',
  'gc',
  'status',
  'delegation',
  'concurrency',
  'leaks',
  'limits',
  'crash',
  'runtime',
] as const;

/** The name of a suite. */
export type Suite = (typeof SUITES)[number];

/**
 * What a plugin is: one that makes an interface, one that changes what an earlier plugin made, or one that only gives
 * addresses.
 */
export type Kind = 'interface' | 'chained' | 'ipam';

/** A sentence of the CNI specification 1.1.0, or nothing of it: then common sense, and what runtimes rely on. */
export type Citation = { readonly section: string; readonly words: string } | 'beyond the spec';

/** One statement about a plugin. */
export interface Check {
  /** `suite/name`, stable. */
  readonly id: `${Suite}/${string}`;
  /** The statement, as a sentence about a plugin that passes. */
  readonly title: string;
  readonly cites: Citation;
  /** What goes wrong in the field when the statement does not hold. */
  readonly why: string;
  /** Why it says nothing about this plugin; `undefined` when it does. */
  readonly skips?: (subject: Subject) => string | undefined;
  /** Tries it. @throws {CheckFailure} when the statement does not hold */
  readonly run: (lab: Lab) => Promise<void>;
}

/** The suite that a check belongs to. */
export function suiteOf({ id }: { readonly id: string }): Suite {
  const name = id.slice(0, id.indexOf('/'));
  const suite = SUITES.find((each) => each === name);
  if (suite === undefined) throw new RangeError(`no suite is called ${name}`);
  return suite;
}

/** A citation of the specification. */
export function spec(section: string, words: string): Citation {
  return { section, words };
}

/** For `skips`: only plugins of these kinds. */
export function only(...kinds: readonly Kind[]): (subject: Subject) => string | undefined {
  return ({ kind }) =>
    kinds.includes(kind) ? undefined : `about plugins of another kind (${kinds.join(', ')})`;
}

/** For `skips`: the first reason of several. */
export function allOf(
  ...conditions: readonly ((subject: Subject) => string | undefined)[]
): (subject: Subject) => string | undefined {
  return (subject) => {
    for (const condition of conditions) {
      const reason = condition(subject);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

/** For `skips`: only plugins that speak this version or a later one. */
export function since(version: '0.4.0' | '1.1.0'): (subject: Subject) => string | undefined {
  return ({ speaks }) => (speaks(version) ? undefined : `the plugin speaks no version from ${version} on`);
}
