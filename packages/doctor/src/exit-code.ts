/** How a command that looks for faults ends: by the worst that it found. */
import { type Finding, SEVERITIES, type Severity, worst } from './finding.ts';

/** The exit codes of findings. Nothing worse than a note is 0. */
export const FOUND_EXIT: Readonly<Record<Severity, number>> = { error: 5, warning: 4, note: 0 };

/**
 * The exit code for findings.
 *
 * @param failOn the mildest severity that counts; what is milder ends with 0
 * @example exitCodeFor(findings, 'error') // 0 when there are only warnings
 */
export function exitCodeFor(findings: readonly Finding[], failOn: Severity = 'warning'): number {
  const found = worst(findings);
  if (found === undefined || SEVERITIES.indexOf(found) > SEVERITIES.indexOf(failOn)) return 0;
  return found === 'note' ? FOUND_EXIT.warning : FOUND_EXIT[found];
}
