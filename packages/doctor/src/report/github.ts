/** A report as the workflow commands that GitHub Actions shows as annotations. */
import type { Finding, Severity } from '../finding.ts';
import type { Report } from './report.ts';

/** How paths are told. */
export interface GithubOptions {
  /** A file's path as GitHub is to see it: relative to the repository. */
  readonly relative?: (path: string) => string;
}

/** One line for each finding. */
export function renderGithub(
  { findings }: Report,
  { relative = (path) => path }: GithubOptions = {},
): string {
  return findings.map((finding) => `${annotation(finding, relative)}\n`).join('');
}

const COMMANDS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', note: 'notice' };

function annotation(finding: Finding, relative: (path: string) => string): string {
  const { severity, id, place, subject, what, consequence, remedy, commands = [] } = finding;
  const properties = [
    ...(place === undefined ? [] : [['file', relative(place.file)]]),
    ...(place?.line === undefined ? [] : [['line', String(place.line)]]),
    ...(place?.column === undefined ? [] : [['col', String(place.column)]]),
    ['title', id],
  ].map(([name = '', value = '']) => `${name}=${escapeProperty(value)}`);
  const about = place === undefined && subject !== undefined ? `${subject}: ` : '';
  const message = [`${about}${what}`, consequence, `To mend: ${remedy}`, ...commands].join('\n');
  return `::${COMMANDS[severity]} ${properties.join(',')}::${escapeData(message)}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
