/** Reads a page of `docs/conformance` again: who was checked, and what failed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pages with failures. */
export const PAGES = ['reference', 'debian', 'runtimes'] as const;

/** The name of a page. */
export type PageName = (typeof PAGES)[number];

/** See the file's comment. */
export interface Page {
  readonly name: PageName;
  readonly title: string;
  readonly subjects: readonly PageRow[];
  readonly failures: readonly PageFailure[];
}

/** A line of the table at the page's head, and the section that it leads to. */
export interface PageRow {
  readonly subject: string;
  readonly passed: number;
  readonly failed: number;
  /** Of plugins: the checks that say nothing about them. Of runtimes: those that they do not claim. */
  readonly other: number;
  /** The section, from its heading on. */
  readonly section: string;
}

/** A failing check. */
interface PageFailure {
  readonly subject: string;
  readonly check: string;
  /** What stands below it. */
  readonly text: string;
}

/** The directory of the pages. */
export const DIRECTORY = 'docs/conformance';

/** Reads a page. */
export function readPage(name: PageName): Page {
  return parsePage(name, readFileSync(join(DIRECTORY, `${name}.md`), 'utf8'));
}

/** The same of its text. */
export function parsePage(name: PageName, text: string): Page {
  const rows = text.matchAll(/^\| \[([\w-]+)\]\([^)]*\) \| (\d+) \| (\d+) \| (\d+) \|$/gm);
  const sections = new Map(
    text.split(/^(?=## )/m).map((section) => [/^## (.*)$/m.exec(section)?.[1] ?? '', section.trimEnd()]),
  );
  const failures = text.split(/^(?=###? )/m).slice(1);
  return {
    name,
    title: /^# (.*)$/m.exec(text)?.[1] ?? '',
    subjects: Array.from(rows, ([, subject = '', passed, failed, other]) => {
      const counts = { passed: Number(passed), failed: Number(failed), other: Number(other) };
      return { subject, ...counts, section: sections.get(subject) ?? '' };
    }),
    failures: failures.flatMap((section) => {
      const [, subject, check] = /^### ([\w-]+): (\w+\/\S+)$/m.exec(section) ?? [];
      return subject === undefined || check === undefined ? [] : [{ subject, check, text: section }];
    }),
  };
}
