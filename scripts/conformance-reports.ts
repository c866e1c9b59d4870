/**
 * Writes `docs/conformance/`: what the kit finds in plugins that others have made, those of the reference, and in runtimes,
 * each failure with an explanation and the command that shows it again.
 *
 *   node --conditions=source scripts/conformance-reports.ts [--kept | PAGE | SUBJECT | PAGE/SUBJECT]...
 *
 * Needs root. Each plugin and runtime is checked in a process of its own; plugins whose links few kernels have are checked in
 * the lab, and only when they are named. With names, only these are checked; of the others stays what their pages say. With
 * `--kept` nothing is checked, and what is in `build/conformance` from before is written anew, as changed explanations ask for.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexPage, pluginRow, releasePage, runtimeRow, runtimesPage } from './conformance/pages.ts';
import { DIRECTORY, PAGES, type PageName, type PageRow, readPage } from './conformance/read-page.ts';
import { IN_THE_LAB, RELEASES, RUNTIMES } from './conformance/releases.ts';
import { isKept, type KitRun, type Report, reportOf } from './conformance/run-kit.ts';

const chosen = process.argv.slice(2).filter((word) => word !== '--kept');
const isKeptEnough = process.argv.includes('--kept');
mkdirSync(DIRECTORY, { recursive: true });

for (const release of RELEASES) {
  const { name, directory, plugins } = release;
  const absent = plugins.filter((plugin) => !existsSync(join(directory, plugin)) && isWanted(name, plugin));
  if (absent.length > 0) {
    console.log(`not installed, so ${name}.md stays as it is: ${absent.join(', ')} in ${directory}`);
    continue;
  }
  const rows: PageRow[] = [];
  for (const plugin of plugins) {
    const run = { words: [join(directory, plugin)], isInLab: IN_THE_LAB.includes(plugin) };
    const row = await rowOf(name, plugin, run, (report) => pluginRow(name, plugin, report));
    if (row !== undefined) rows.push(row);
  }
  write(name, releasePage(release, rows));
}

const rows: PageRow[] = [];
for (const runtime of RUNTIMES) {
  const { name, program } = runtime;
  if (!existsSync(program)) continue;
  const run = { words: ['--runtime', name], isInLab: false };
  const row = await rowOf('runtimes', name, run, (report) => runtimeRow(runtime, report));
  if (row !== undefined) rows.push(row);
}
write('runtimes', runtimesPage(rows));

write('README', indexPage(PAGES.map(readPage)));

/** The row of a subject, made of a report where there is one to be had, else as its page has it, if that has it. */
async function rowOf(
  page: PageName,
  subject: string,
  run: Pick<KitRun, 'words' | 'isInLab'>,
  rowOfReport: (report: Report) => PageRow,
): Promise<PageRow | undefined> {
  const isAsked = isWanted(page, subject);
  if (!isAsked && !(isKeptEnough && isKept(page, subject)))
    return readPage(page).subjects.find((row) => row.subject === subject);
  return rowOfReport(await reportOf({ page, subject, ...run, isWanted: isAsked }));
}

function isWanted(page: PageName, subject: string): boolean {
  if (isKeptEnough) return false;
  const isNamed = [subject, `${page}/${subject}`].some((name) => chosen.includes(name));
  return isNamed || (!IN_THE_LAB.includes(subject) && (chosen.length === 0 || chosen.includes(page)));
}

function write(name: string, text: string): void {
  writeFileSync(join(DIRECTORY, `${name}.md`), text);
}
