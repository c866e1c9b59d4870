/** Reports for programs. */
import type { Outcome, RunReport } from '../run.ts';
import { type Invocation, reproduction } from './reproduce.ts';
import { summaryLine, tally } from './summary.ts';

/** A run as JSON; members are added, never renamed or removed. */
export function jsonReport(run: RunReport, invocation: Invocation): object {
  const { program, plugin, outcomes, milliseconds } = run;
  return {
    program,
    type: plugin?.type ?? null,
    kind: plugin?.kind ?? null,
    versions: plugin?.versions ?? [],
    summary: summaryLine(run),
    ...tally(outcomes),
    milliseconds: Math.round(milliseconds),
    checks: outcomes.map((outcome) => checkJson(outcome, invocation)),
  };
}

function checkJson(outcome: Outcome, invocation: Invocation): object {
  const { id, title, suite, status, reason, note, failure, milliseconds } = outcome;
  const { call, ...words } = failure ?? {};
  return {
    ...{
      id,
      suite,
      title,
      status,
      reason: reason ?? null,
      note: note ?? null,
      milliseconds: Math.round(milliseconds),
    },
    failure:
      failure === undefined
        ? null
        : {
            ...words,
            reproduce: reproduction(id, invocation),
            call: call === undefined ? null : { ...call, stdin: Buffer.from(call.stdin).toString('utf8') },
          },
  };
}
