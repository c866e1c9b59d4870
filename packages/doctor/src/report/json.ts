/** A report as a JSON value; its form is part of the contract with programs. */
import type { Finding } from '../finding.ts';
import type { Silenced } from '../silence.ts';
import type { Report } from './report.ts';

/** What `--format json` prints. */
export interface ReportJson {
  readonly findings: readonly Finding[];
  readonly silenced: readonly Silenced[];
  readonly checked: string;
}

/**
 * The report as JSON text that ends with a newline.
 *
 * @param more further members
 */
export function renderJson({ findings, silenced, checked }: Report, more: object = {}): string {
  const json: ReportJson = { findings, silenced, checked };
  return `${JSON.stringify({ ...json, ...more }, null, 2)}\n`;
}
