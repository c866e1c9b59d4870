/** What is behind failures of the work of others: each was looked at, tried by hand, and is no artefact of the kit. */
import { ADDRESS_EXPLANATIONS } from './explanations/addresses.ts';
import { CHAINED_EXPLANATIONS } from './explanations/chained.ts';
import { COMMON_EXPLANATIONS } from './explanations/common.ts';
import { INTERFACE_EXPLANATIONS } from './explanations/interfaces.ts';
import { RUNTIME_EXPLANATIONS } from './explanations/runtimes.ts';
import type { Page, PageName } from './read-page.ts';

/** One kind of failure: every one of these plugins fails every one of these checks for this reason. */
export interface Explanation {
  /** The pages; those of both releases of plugins when left out. */
  readonly pages?: readonly PageName[];
  /** Who of the page; one that a page does not have is not meant there. `all`: whoever it has. */
  readonly subjects: readonly string[] | 'all';
  /** Subjects that do not fail so, although `all` do. */
  readonly except?: readonly string[];
  /** Ids of checks. */
  readonly checks: readonly string[];
  /** Set where two processes race: there are runs in which nothing fails. */
  readonly isByChance?: true;
  readonly text: string;
}

/** All of them. */
export const EXPLANATIONS: readonly Explanation[] = [
  ...COMMON_EXPLANATIONS,
  ...INTERFACE_EXPLANATIONS,
  ...ADDRESS_EXPLANATIONS,
  ...CHAINED_EXPLANATIONS,
  ...RUNTIME_EXPLANATIONS,
];

/** A failing check, by where it is told. */
export interface Failing {
  readonly page: PageName;
  readonly subject: string;
  readonly check: string;
}

/** @throws {Error} for a failure that nobody has looked at */
export function explanationOf(failing: Failing): string {
  const found = EXPLANATIONS.find((each) => isAbout(each, failing));
  if (found !== undefined) return found.text;
  const { page, subject, check } = failing;
  throw new Error(`${page}: ${subject} fails ${check}: look at it, and write down what is behind it`);
}

/**
 * What is wrong between pages and explanations: failures that have none, or several, or another one than the page shows;
 * and explanations of what does not fail.
 */
export function disagreements(
  pages: readonly Page[],
  explanations: readonly Explanation[],
): readonly string[] {
  const found: string[] = [];
  for (const { name, failures } of pages) {
    for (const { subject, check, text } of failures) {
      const about = explanations.filter((each) => isAbout(each, { page: name, subject, check }));
      const [first] = about;
      const where = `${name}.md: ${subject} fails ${check}`;
      if (first === undefined) found.push(`${where}, and nothing explains it`);
      else if (about.length > 1) found.push(`${where}, and ${about.length} explanations are about it`);
      else if (!text.includes(first.text)) found.push(`${where}, and the page does not have its explanation`);
    }
  }
  for (const explanation of explanations.filter(({ isByChance }) => isByChance !== true)) {
    for (const { page, subject, check } of claims(explanation, pages)) {
      const fails = page.failures.some((each) => each.subject === subject && each.check === check);
      if (!fails) found.push(`${page.name}.md: ${subject} does not fail ${check}, which is explained`);
    }
  }
  for (const { subjects, pages: names = RELEASES, text } of explanations) {
    const there = pages.filter(({ name }) => names.includes(name)).flatMap((page) => page.subjects);
    const missing =
      subjects === 'all' ? [] : subjects.filter((each) => there.every(({ subject }) => subject !== each));
    for (const subject of missing) found.push(`no page has ${subject}, which is explained: ${text}`);
  }
  return found;
}

const RELEASES: readonly PageName[] = ['reference', 'debian'];

function isAbout(
  { pages = RELEASES, subjects, except = [], checks }: Explanation,
  { page, subject, check }: Failing,
): boolean {
  return (
    pages.includes(page) &&
    checks.includes(check) &&
    (subjects === 'all' ? !except.includes(subject) : subjects.includes(subject))
  );
}

/** Every failure that an explanation says there is. */
function claims(explanation: Explanation, pages: readonly Page[]) {
  const { pages: names = RELEASES, subjects, except = [], checks } = explanation;
  return pages
    .filter(({ name }) => names.includes(name))
    .flatMap((page) => {
      const there = page.subjects
        .map(({ subject }) => subject)
        .filter((subject) => !except.includes(subject));
      return there
        .filter((subject) => subjects === 'all' || subjects.includes(subject))
        .flatMap((subject) => checks.map((check) => ({ page, subject, check })));
    });
}
