/** The flags of commands that report findings. */
import { SEVERITIES, type Severity } from '@heddle/doctor';
import type { CommonFlags } from '../command.ts';

/** How findings are printed. */
export type FindingFormat = 'text' | 'json' | 'sarif' | 'github';

/** The flags of every command that reports findings. */
export interface FindingFlags extends CommonFlags {
  readonly format?: FindingFormat | undefined;
  readonly failOn?: Severity | undefined;
  readonly silence?: string | undefined;
}

/** How those flags are declared. */
export const FINDING_FLAGS = {
  format: {
    kind: 'enum',
    values: ['text', 'json', 'sarif', 'github'],
    brief: 'how to print findings: text, json, sarif (2.1.0), github (annotations)',
    optional: true,
  },
  failOn: {
    kind: 'enum',
    values: SEVERITIES,
    brief: 'the mildest that the exit code tells: error, warning (default), note',
    placeholder: 'severity',
    optional: true,
  },
  silence: {
    kind: 'parsed',
    parse: String,
    brief: 'the file of findings not to tell of (default /etc/heddle/silence.jsonc, where there is one)',
    placeholder: 'file',
    optional: true,
  },
} as const;
