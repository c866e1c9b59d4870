/**
 * Writes `docs/conformance/`: what the kit finds in plugins that others have made, those of the reference, and in runtimes,
 * each failure with an explanation and the command that shows it again.
 *
 *   node --conditions=source scripts/conformance-reports.ts [plugin or runtime]...
 *
 * Needs root. Each plugin and runtime is checked in a process of its own. With names, only pages that have one of them are
 * written, and only these are checked again; of the others what `build/conformance` has from before is taken.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { CHECKS, RUNTIME_CHECKS } from '@heddle/conformance';
import { explanationOf } from './conformance/explanations.ts';

/** One release of the reference's plugins. */
interface Release {
  readonly name: string;
  readonly title: string;
  readonly directory: string;
  readonly plugins: readonly string[];
}

const RELEASES: readonly Release[] = [
  {
    name: 'reference',
    title: "the reference's plugins, release 1.10.0",
    directory: 'build/reference',
    plugins: ['bridge', 'host-local', 'portmap', 'ptp', 'tuning'],
  },
  {
    name: 'debian',
    title: "the reference's plugins as Debian 12 has them, release 1.1.1",
    directory: '/usr/lib/cni',
    plugins: ['bridge', 'host-local'],
  },
];

interface Report {
  readonly summary: string;
  readonly passed: number;
  readonly failed: number;
  readonly unclaimed: number;
  readonly checks: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: string;
    readonly reason: string | null;
    readonly failure: {
      readonly expected: string;
      readonly got: string;
      readonly cites: string;
      readonly reproduce: string;
    } | null;
  }[];
}

const OUT = 'docs/conformance';
const chosen = process.argv.slice(2);
mkdirSync(OUT, { recursive: true });
for (const release of RELEASES) {
  const own = release.plugins.filter((plugin) => existsSync(join(release.directory, plugin)));
  if (!isWanted(release.plugins)) continue;
  if (own.length === 0) console.log(`not installed: ${release.title}`);
  else writeFileSync(join(OUT, `${release.name}.md`), page(release, own));
}

const RUNTIMES: readonly { readonly name: string; readonly program: string; readonly title: string }[] = [
  { name: 'heddle', program: 'node', title: "Heddle's own command" },
  {
    name: 'cnitool',
    program: 'build/reference/cnitool',
    title: 'cnitool 1.3.1, on the libcni of that release',
  },
  { name: 'podman', program: '/usr/bin/podman', title: 'Podman 4.3.1 of Debian 12' },
  {
    name: 'containerd',
    program: '/usr/bin/containerd',
    title: 'containerd 1.6.20 of Debian 12, through its command `ctr`',
  },
];
const runtimes = RUNTIMES.filter(({ program }) => program === 'node' || existsSync(program));
if (isWanted(RUNTIMES.map(({ name }) => name))) writeFileSync(join(OUT, 'runtimes.md'), runtimesPage());

function isWanted(names: readonly string[]): boolean {
  return chosen.length === 0 || names.some((name) => chosen.includes(name));
}

function runtimesPage(): string {
  const reports = runtimes.map(({ name, title }) => {
    const report = reportOf({ name: 'runtimes', subject: name, words: ['--runtime', name] });
    return [name, title, report] as const;
  });
  const rows = reports.map(([name, , { passed, failed, unclaimed }]) => {
    return `| [${name}](#${name}) | ${passed} | ${failed} | ${unclaimed} |`;
  });
  return [
    '<!-- Made by scripts/conformance-reports.ts. -->',
    '# Conformance of runtimes',
    'What `heddle conformance --runtime` finds. Each failure was looked at; what is behind it stands below it. What cannot be ' +
      'asked of a runtime is not claimed, with the reason.',
    ['| runtime | passed | failed | not claimed |', '| --- | --- | --- | --- |', ...rows].join('\n'),
    ...reports.flatMap(([name, title, report]) => {
      const excused = report.checks.filter(({ status }) => status === 'unclaimed');
      const list = excused.map(({ id, reason }) => `- \`${id}\`: ${reason}`).join('\n');
      return [
        `${section(name, report)}`.replace(`## ${name}\n`, `## ${name}\n\n${title}.\n`),
        ...(excused.length === 0 ? [] : [`### ${name}: not claimed`, list]),
      ];
    }),
  ]
    .join('\n\n')
    .concat('\n');
}

function page(release: Release, plugins: readonly string[]): string {
  const { name, directory } = release;
  const reports = plugins.map((plugin) => {
    return [plugin, reportOf({ name, subject: plugin, words: [join(directory, plugin)] })] as const;
  });
  const rows = reports.map(
    ([plugin, { passed, failed }]) => `| [${plugin}](#${plugin}) | ${passed} | ${failed} |`,
  );
  return [
    '<!-- Made by scripts/conformance-reports.ts. -->',
    `# Conformance of ${release.title}`,
    'What `heddle conformance` finds. A failure is no verdict: many checks go beyond the specification, and say so in ' +
      '[conformance.md](../conformance.md). Each failure was looked at; what is behind it stands below it.',
    ['| plugin | passed | failed |', '| --- | --- | --- |', ...rows].join('\n'),
    ...reports.map(([plugin, report]) => section(plugin, report)),
  ]
    .join('\n\n')
    .concat('\n');
}

function section(plugin: string, { summary, checks }: Report): string {
  const failures = checks.filter(({ status }) => status === 'failed');
  return [
    `## ${plugin}`,
    `${summary}.`,
    ...failures.map(({ id, title, failure }) => {
      if (failure === null) return '';
      const { expected, got, cites, reproduce } = failure;
      return [
        `### ${plugin}: ${id}`,
        `${title.slice(0, 1).toUpperCase()}${title.slice(1)}. Rests on ${cites}.`,
        explanationOf(plugin, id),
        ['```text', `expected ${expected}`, `got ${stable(got)}`, '```'].join('\n'),
        ['```sh', reproduce, '```'].join('\n'),
      ].join('\n\n');
    }),
  ].join('\n\n');
}

/** What is drawn by chance in each run is left out, so that a page changes only when a plugin does. */
function stable(text: string): string {
  const lines = text
    .replace(/\bveth[0-9a-f]{8}\b/g, 'vethXXXXXXXX')
    .replace(/\b(CNI-[A-Z-]*)[0-9a-f]{16,}\b/g, '$1…')
    .replace(/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, 'xx:xx:xx:xx:xx:xx')
    .split('\n')
    .map((line) => (line.length > 160 ? `${line.slice(0, 160)}…` : line));
  return lines.length > 8
    ? [...lines.slice(0, 8), `… and ${lines.length - 8} lines more`].join('\n')
    : lines.join('\n');
}

/** Runs the kit, or takes what it has said before where the plugin was not asked for. */
function reportOf({
  name,
  subject,
  words,
}: {
  readonly name: string;
  readonly subject: string;
  readonly words: readonly string[];
}): Report {
  const kept = join('build', 'conformance', `${name}-${subject}.json`);
  if (!existsSync(kept) || chosen.length === 0 || chosen.includes(subject)) {
    const args = ['--conditions=source', 'packages/cli/src/main.ts', 'conformance', ...words, '-o', 'json'];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: {
        ...process.env,
        PATH: [programs(), resolve('build/reference'), process.env['PATH']].join(delimiter),
      },
    });
    if (status !== 0 && status !== 1) throw new Error(`${subject}: ${stderr}`);
    mkdirSync(join('build', 'conformance'), { recursive: true });
    writeFileSync(kept, stdout);
  }
  const report: Report = JSON.parse(readFileSync(kept, 'utf8'));
  const ids = new Set<string>([...CHECKS, ...RUNTIME_CHECKS].map(({ id }) => id));
  const unknown = report.checks.find(({ id }) => !ids.has(id));
  if (unknown !== undefined) throw new Error(`${kept} is of another kit: remove it`);
  console.log(`${name} ${subject}: ${report.summary}`);
  return report;
}

/** A directory with the command `heddle`, as it is in these sources. */
function programs(): string {
  const directory = resolve('build/conformance/bin');
  mkdirSync(directory, { recursive: true });
  const program = join(directory, 'heddle');
  const words = [process.execPath, '--conditions=source', resolve('packages/cli/src/main.ts')];
  writeFileSync(program, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`);
  chmodSync(program, 0o755);
  return directory;
}
