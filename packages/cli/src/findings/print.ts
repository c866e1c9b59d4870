/** Findings as a command prints them, and the exit code that follows. */
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import {
  exitCodeFor,
  type Finding,
  inOrder,
  parseSilences,
  type Report,
  RULES,
  renderGithub,
  renderJson,
  renderSarif,
  renderText,
  silence,
} from '@heddle/doctor';
import type { Cli } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import { HEDDLE_VERSION } from '../version.ts';
import type { FindingFlags, FindingFormat } from './flags.ts';

/**
 * What is to be told of findings, the rest silenced.
 *
 * @param checked what was looked at, for the last line
 * @throws {ConfigError} for a silencing file that is not valid
 */
export function reportOf(
  cli: Cli,
  flags: FindingFlags,
  findings: readonly Finding[],
  checked: string,
): Report {
  const { told, silenced } = silence(findings, silencesOf(cli, flags));
  return { findings: inOrder(told, RULES), silenced, checked };
}

/**
 * Prints a report in the wanted form, and gives the exit code.
 *
 * @param more further members of the JSON
 */
export function printReport(cli: Cli, flags: FindingFlags, report: Report, more: object = {}): number {
  cli.stdout.write(rendered(cli, formatOf(flags), report, more));
  return exitCodeFor(report.findings, flags.failOn);
}

/** The format that was asked for: `-o json` is one of them. */
export function formatOf({ format, output }: FindingFlags): FindingFormat {
  return format ?? (output === 'json' ? 'json' : 'text');
}

function rendered({ cwd, stdout }: Cli, format: FindingFormat, report: Report, more: object): string {
  const inside = (path: string) => {
    const short = relative(cwd, path);
    return short === '' || short.startsWith('..') ? path : short;
  };
  switch (format) {
    case 'json':
      return renderJson(report, more);
    case 'sarif':
      return renderSarif(report, { rules: RULES, version: HEDDLE_VERSION, relative: inside });
    case 'github':
      return renderGithub(report, { relative: inside });
    case 'text':
      return renderText(report, {
        styled: stdout.isStyled,
        ...(stdout.columns && { width: stdout.columns }),
      });
  }
}

function silencesOf({ cwd, places }: Cli, { silence: named }: FindingFlags) {
  const path = named === undefined ? places.silenceFile : resolve(cwd, named);
  try {
    return parseSilences(readFileSync(path, 'utf8'), path, RULES);
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error;
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isAbsent && named === undefined) return [];
    throw new CommandError(
      EXIT.FAILED,
      `cannot read ${path}: ${isAbsent ? 'there is no such file' : error.message}`,
      {
        cause: error,
      },
    );
  }
}

/** What a report is in JSON, for the help of commands that print one. */
export const FINDINGS_JSON = `  findings: {
    id: string; // the rule
    severity: 'error' | 'warning' | 'note';
    place?: { file: string; line?: number; column?: number; excerpt?: string };
    subject?: string;
    what: string;
    consequence: string;
    remedy: string;
    commands?: string[]; // for root's shell, where commands mend it
    evidence?: string[];
    fix?: object;
  }[];
  silenced: { finding: object; reason: string }[];
  checked: string;`;
