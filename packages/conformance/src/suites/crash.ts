import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, since, spec } from '../check.ts';
import { spread } from '../crash/spread.ts';
import {
  type CrashPlan,
  type CrashReport,
  parseReport,
  pointText,
  tracerArguments,
  tracerProgram,
} from '../crash/tracer.ts';
import { CheckFailure, DoesNotApply, must } from '../failure.ts';
import type { Call } from '../lab/call.ts';
import type { Container } from '../lab/container.ts';
import { type CallOptions, type Lab, mustSucceed } from '../lab/lab.ts';
import { differences, missingFrom, type Snapshot } from '../lab/snapshot.ts';
import { quoted } from '../report/reproduce.ts';
import { nodeUnchanged, settled, withoutCommonIpv6 } from './unchanged.ts';

const LIFECYCLE = spec(
  'Section 3, Lifecycle & Ordering',
  'The container runtime must ensure that _add_ is eventually followed by a corresponding _delete_',
);
const WHY =
  'Runtimes time out and kill, machines run out of memory, nodes lose their power; then the same pod comes again.';

/** A plugin that is killed at any system call which changes something. */
export const CRASH_CHECKS: readonly Check[] = [
  {
    id: 'crash/add',
    title: 'wherever an ADD is killed, DEL and GC bring back what was before, and ADD works again',
    cites: LIFECYCLE,
    why: WHY,
    run: (lab) =>
      killEverywhere(lab, 'ADD', {
        prepare: async () => {},
        call: (container, options) => lab.call('ADD', container, options),
        clean: (container) => lab.del(container, { prevResult: null }),
      }),
  },
  {
    id: 'crash/del',
    title: 'wherever a DEL is killed, the next DEL and GC bring back what was before, and ADD works again',
    cites: spec('Section 2, DEL', 'Plugins MUST accept multiple `DEL` calls'),
    why: WHY,
    run: (lab) =>
      killEverywhere(lab, 'DEL', {
        prepare: (container) => lab.add(container),
        call: (container, options) => lab.call('DEL', container, options),
        clean: (container) => lab.del(container),
      }),
  },
  {
    id: 'crash/gc',
    title: 'wherever a GC is killed, the next GC brings back what was before, and ADD works again',
    cites: spec('Section 2, GC', 'A plugin SHOULD remove as many stale resources as possible'),
    why: WHY,
    skips: since('1.1.0'),
    run: (lab) =>
      killEverywhere(lab, 'GC', {
        prepare: async (container) => {
          await lab.add(container);
          await lab.end(container);
        },
        call: (_, options) => lab.gc([], options),
        clean: async () => {},
      }),
  },
];

interface Scene {
  readonly prepare: (container: Container) => Promise<unknown>;
  /** What is killed. */
  readonly call: (container: Container, options: CallOptions) => Promise<Call>;
  /** What a runtime does before GC. */
  readonly clean: (container: Container) => Promise<unknown>;
}

/** Kills at one call after the other, each time with a fresh container, on one node. */
async function killEverywhere(lab: Lab, command: string, scene: Scene): Promise<void> {
  await lab.warmUp();
  const before = await lab.snapshot();
  const undisturbed = await round(lab, scene, before, { point: 0, when: 'before' });
  const last = undisturbed.report.points.at(-1);
  if (last === undefined) throw new DoesNotApply(`its ${command} changes nothing by itself`);
  const plans: readonly CrashPlan[] = [
    ...undisturbed.report.points.map(({ number }) => ({ point: number, when: 'before' }) as const),
    { point: last.number, when: 'after' },
  ];
  const chosen = lab.isThorough ? plans : spread(plans, SAMPLE);
  lab.note(`killed at ${chosen.length} of ${plans.length} points`);
  for (const plan of chosen) {
    const { left, report } = await round(lab, scene, before, plan);
    // Where less was done, less has to be undone.
    const more = missingFrom(undisturbed.left, left);
    must(more.length === 0, `a container as after ${command}, for a kill ${placeText(plan, report)}`, () =>
      more.join('\n'),
    );
  }
}

/** How many calls are tried unless all are asked for: it has to be done with in half a minute. */
const SAMPLE = 8;

interface Round {
  readonly report: CrashReport;
  /** In what the container differs from before, with nothing that only this one has. */
  readonly left: Snapshot;
}

async function round(lab: Lab, scene: Scene, before: Snapshot, plan: CrashPlan): Promise<Round> {
  const container = await lab.container();
  const inside = await settled(container);
  await scene.prepare(container);
  const report = await traced(lab, plan, (options) => scene.call(container, options));
  try {
    await scene.clean(container);
    if (lab.subject.speaks('1.1.0')) mustSucceed(await lab.gc([]));
    const left = container.isAlive ? differences(inside, await withoutCommonIpv6(container)) : [];
    await nodeUnchanged(lab, before);
    container.result = undefined;
    if (plan.point > 0) await again(lab, container);
    if (container.isAlive) await lab.end(container);
    return { report, left: left.map((line) => anonymous(line, container)) };
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    if (plan.point === 0) {
      throw new DoesNotApply(`fails without any kill, which other checks tell: expected ${error.expected}`);
    }
    throw new CheckFailure(
      `${error.expected} after a kill ${placeText(plan, report)}`,
      error.got,
      error.call,
    );
  }
}

/** What the kit gives each container, without what tells it from others. */
function anonymous(line: string, { n }: Container): string {
  return line
    .replaceAll(new RegExp(`\\b10\\.220\\.${n}\\.`, 'g'), '10.220.N.')
    .replaceAll(`fd00:220:${n.toString(16)}:`, 'fd00:220:N:')
    .replaceAll(/\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, 'MAC');
}

/** The pod comes back under its names. */
async function again(lab: Lab, container: Container): Promise<void> {
  const successor = container.isAlive ? container : await lab.container(container.id);
  await lab.add(successor);
  if (lab.subject.speaks('0.4.0')) await lab.check(successor);
  await lab.del(successor);
  if (successor !== container) await lab.end(successor);
}

async function traced(
  lab: Lab,
  plan: CrashPlan,
  call: (options: CallOptions) => Promise<Call>,
): Promise<CrashReport> {
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
}

function placeText({ point, when }: CrashPlan, { points, reached }: CrashReport): string {
  const at = points.find(({ number }) => number === point);
  if (!reached || at === undefined) return 'not at all, for it made fewer calls this time';
  return `${when} ${pointText(at)}`;
}
