/** How the command ends. `docs/cli.md` lists these. */

import { FOUND_EXIT } from '@heddle/doctor';

/** Exit codes by name. */
export const EXIT = {
  /** It was done. */
  OK: 0,
  /** It failed; stderr says at what, on what and why. */
  FAILED: 1,
  /** The command line was not understood; nothing was done. */
  USAGE: 2,
  /** `install`, `uninstall`: files that are not Heddle's, or attachments, are in the way; they were left alone. */
  IN_THE_WAY: 3,
  /** `audit`, `doctor`, `verify`, `ipam check`: nothing worse than warnings was found. */
  FOUND_WARNINGS: FOUND_EXIT.warning,
  /** `audit`, `doctor`, `verify`, `ipam check`: errors were found; `conformance`: a check failed. */
  FOUND_ERRORS: FOUND_EXIT.error,
  /** `run`: attaching or detaching failed. */
  RUN_FAILED: 125,
  /** `run`: the command is there but cannot be executed. */
  NOT_EXECUTABLE: 126,
  /** `run`: there is no such command. */
  NOT_FOUND: 127,
} as const;

/** What each exit code says, for the documentation. */
export const EXIT_MEANINGS: readonly (readonly [code: string, meaning: string])[] = [
  [`${EXIT.OK}`, 'done'],
  [`${EXIT.FAILED}`, 'failed: stderr says at what, on what and why'],
  [`${EXIT.USAGE}`, 'the command line was not understood; nothing was done'],
  [
    `${EXIT.IN_THE_WAY}`,
    "`install` and `uninstall`: files that are not Heddle's, or attachments, are in the way; they were left alone",
  ],
  [
    `${EXIT.FOUND_WARNINGS}`,
    '`audit`, `doctor`, `verify`, `ipam check`: there are warnings, and nothing worse',
  ],
  [
    `${EXIT.FOUND_ERRORS}`,
    '`audit`, `doctor`, `verify`, `ipam check`: there are errors; `conformance`: a check failed',
  ],
  [`${EXIT.RUN_FAILED}`, '`run`: attaching or detaching failed'],
  [`${EXIT.NOT_EXECUTABLE}`, '`run`: the command is there but cannot be executed'],
  [`${EXIT.NOT_FOUND}`, '`run`: there is no such command'],
  ['_n_', '`run`: what the command itself ended with; 128 + _n_ when signal _n_ ended it'],
];
