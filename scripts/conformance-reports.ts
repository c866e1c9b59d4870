/**
 * Writes `docs/conformance/`: what the kit finds in plugins that others have made, those of the reference, and in runtimes,
 * each failure with an explanation and the command that shows it again.
 *
 *   node --conditions=source scripts/conformance-reports.ts [--kept | PAGE | SUBJECT | PAGE/SUBJECT]...
 *
 * Needs root. Each plugin and runtime is checked in a process of its own. Plugins whose links few kernels have are checked in
 * the lab, and only when they are named: it takes half an hour for each. With names, only pages that have one of them are written, and only these are checked again; of the others what
 * `build/conformance` has from before is taken. With `--kept` all pages are written of that, where it is there.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUITES } from '@heddle/conformance';
import { indexPage, releasePage, runtimesPage } from './conformance/pages.ts';
import { DIRECTORY, PAGES, type PageName, readPage } from './conformance/read-page.ts';
import { IN_THE_LAB, NOT_IN_THE_LAB, RELEASES, RUNTIMES } from './conformance/releases.ts';
import { isKept, type Report, reportOf } from './conformance/run-kit.ts';

const isKeptEnough = process.argv.includes('--kept');
const chosen = process.argv.slice(2).filter((word) => word !== '--kept');
const LAB_SUITES = SUITES.filter((suite) => suite !== 'runtime' && !NOT_IN_THE_LAB.includes(suite)).flatMap(
  (suite) => ['--suite', suite],
);
mkdirSync(DIRECTORY, { recursive: true });

for (const release of RELEASES) {
  const { name, directory, plugins } = release;
  if (!isPageWanted(name, plugins)) continue;
  const missing = plugins.filter((plugin) => !existsSync(join(directory, plugin)));
  if (missing.length > 0) {
    console.log(`not installed, so ${name}.md stays as it is: ${missing.join(', ')} in ${directory}`);
    continue;
  }
  const reports: [string, Report][] = [];
  for (const plugin of plugins) {
    const isInLab = IN_THE_LAB.includes(plugin);
    const isNamed = [plugin, `${name}/${plugin}`].some((word) => chosen.includes(word));
    if (isInLab && !isNamed && !isKept(name, plugin)) continue;
    const words = [join(directory, plugin), ...(isInLab ? LAB_SUITES : [])];
    const about = { page: name, subject: plugin, words };
    reports.push([
      plugin,
      await reportOf({ ...about, isInLab, isWanted: isInLab ? isNamed : isWanted(name, plugin) }),
    ]);
  }
  write(name, releasePage(release, reports));
}

if (
  isPageWanted(
    'runtimes',
    RUNTIMES.map(({ name }) => name),
  )
) {
  const reports: [(typeof RUNTIMES)[number], Report][] = [];
  for (const runtime of RUNTIMES.filter(({ program }) => existsSync(program))) {
    const { name } = runtime;
    const about = { page: 'runtimes', subject: name, words: ['--runtime', name] };
    reports.push([runtime, await reportOf({ ...about, isWanted: isWanted('runtimes', name) })]);
  }
  write('runtimes', runtimesPage(reports));
}

write('README', indexPage(PAGES.map(readPage)));

/** Whether a page is to be written; of what is kept, only when all of it is. */
function isPageWanted(page: PageName, subjects: readonly string[]): boolean {
  if (isKeptEnough) return subjects.every((subject) => IN_THE_LAB.includes(subject) || isKept(page, subject));
  return subjects.some((subject) => isWanted(page, subject));
}

function isWanted(page: PageName, subject: string): boolean {
  if (isKeptEnough) return false;
  return chosen.length === 0 || [page, subject, `${page}/${subject}`].some((name) => chosen.includes(name));
}

function write(name: string, text: string): void {
  writeFileSync(join(DIRECTORY, `${name}.md`), text);
}
