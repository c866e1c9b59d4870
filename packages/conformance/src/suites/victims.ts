/** Who is killed: the plugin, or a daemon that it talks to. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attachCrash } from '../crash/attach.ts';
import { spread } from '../crash/spread.ts';
import {
  type CrashPlan,
  type CrashReport,
  parseReport,
  pointText,
  tracerArguments,
  tracerProgram,
} from '../crash/tracer.ts';
import { DoesNotApply } from '../failure.ts';
import type { Call } from '../lab/call.ts';
import { type CallOptions, type Lab, mustSucceed } from '../lab/lab.ts';
import { quoted } from '../report/reproduce.ts';

/** Has a call made, and somebody killed at one of its system calls. A call in which nobody was killed must succeed. */
export type Victim = (
  lab: Lab,
  plan: CrashPlan,
  call: (options: CallOptions) => Promise<Call>,
) => Promise<CrashReport>;

/** The plugin is killed, and all that it has started. */
export const plugin: Victim = async (lab, plan, call) => {
  const directory = mkdtempSync(join(lab.house.directory, 'crash-'));
  const file = join(directory, 'report');
  try {
    const words = [tracerProgram(), ...tracerArguments(plan), '--report', file, '--'];
    const ended = await call({ shell: `exec ${words.map(quoted).join(' ')} "$0"` });
    const report = parseReport(readFileSync(file, 'utf8'));
    if (!report.reached) mustSucceed(ended);
    return report;
  } finally {
    rmSync(directory, { recursive: true });
  }
};

/** Does something for each daemon in turn. @throws {DoesNotApply} when there is none */
export async function eachDaemon(lab: Lab, run: (daemon: Victim) => Promise<void>): Promise<void> {
  const count = lab.daemons.length;
  if (count === 0) throw new DoesNotApply('no daemon runs beside it');
  let idle: DoesNotApply | undefined;
  let notes = '';
  for (let index = 0; index < count; index++) {
    try {
      await run(daemon(index));
      notes += `${notes && ', '}${lab.noted}${count > 1 ? ` of daemon ${index + 1}` : ''}`;
    } catch (error) {
      if (!(error instanceof DoesNotApply)) throw error;
      idle = error;
    }
  }
  if (notes === '' && idle !== undefined) throw idle;
  lab.note(notes);
}

/** A daemon is killed; there is another one when this is done. */
function daemon(index: number): Victim {
  return async (lab, { point, when }, call) => {
    await using tracer = await attachCrash({ pid: lab.daemons[index] ?? 0, point, when });
    const ended = await call({});
    // It may do more than it is waited for.
    await sleep(AFTERWARDS);
    const report = await tracer.release();
    if (report.reached) await lab.restartDaemon(index);
    else mustSucceed(ended);
    return report;
  };
}

/** Milliseconds. */
const AFTERWARDS = 50;

/** Where a kill was, in words. */
export function placeText({ point, when }: CrashPlan, { points, reached }: CrashReport): string {
  const at = points.find(({ number }) => number === point);
  if (!reached || at === undefined) return 'not at all, for it made fewer calls this time';
  return `${when} ${pointText(at)}`;
}

/** All kills that there can be, or some of them, spread over all. What is done is noted. @param sample how many, unless the lab says */
export function plansFor(lab: Lab, { points }: CrashReport, sample: number): readonly CrashPlan[] {
  const last = points.at(-1);
  if (last === undefined) throw new DoesNotApply('it changes nothing by itself');
  const plans: readonly CrashPlan[] = [
    ...points.map(({ number }) => ({ point: number, when: 'before' }) as const),
    { point: last.number, when: 'after' },
  ];
  const chosen = spread(plans, lab.crashPoints ?? sample);
  lab.note(`killed at ${chosen.length} of ${plans.length} points`);
  return chosen;
}
