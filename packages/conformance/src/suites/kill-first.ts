/** Kills in the first ADD that a node sees: there are no bridges, tables, chains and directories of the plugin's yet. */
import type { CrashPlan, CrashReport } from '../crash/tracer.ts';
import { must } from '../failure.ts';
import { type Lab, mustSucceed } from '../lab/lab.ts';
import { differences, missingFrom, type Snapshot } from '../lab/snapshot.ts';
import { again, changesIn, HARDWARE_ADDRESS, placed } from './kill-everywhere.ts';
import { same, settled } from './unchanged.ts';
import { placeText, plansFor, type Victim } from './victims.ts';

/** See the file's comment; each time with a fresh node. */
export async function killEverywhereAtFirst(lab: Lab, victim: Victim): Promise<void> {
  const whole = await firstAdd(lab, victim, { point: 0, when: 'before' });
  for (const plan of plansFor(lab, whole.report, SAMPLE)) {
    const { report, left, inside, end } = await firstAdd(lab, victim, plan);
    const place = `a kill ${placeText(plan, report)}`;
    // What is made once for all is made in part, or not at all.
    const more = [...missingFrom(whole.left, left), ...missingFrom(whole.inside, inside)];
    must(more.length === 0, `no more than a whole ADD, DEL and GC leave, for ${place}`, () =>
      more.join('\n'),
    );
    same(whole.end, end, `a node as after a whole ADD and another one, for ${place}`);
  }
}

/** How many calls are tried unless all are asked for: each takes a node of its own. */
const SAMPLE = 6;

/** A link that is half made, such as one that is not up yet, is a part of the link. */
function nameOnly(line: string): string {
  return /^. link \S+/.exec(line)?.[0] ?? line;
}

interface First {
  readonly report: CrashReport;
  /** In what the node differs from before, once the first ADD was undone. */
  readonly left: Snapshot;
  /** The same of the container. */
  readonly inside: Snapshot;
  /** The node when all is over, another ADD included. */
  readonly end: Snapshot;
}

async function firstAdd(lab: Lab, victim: Victim, plan: CrashPlan): Promise<First> {
  await lab.renew();
  const look = async () => (await lab.snapshot()).map((line) => line.replaceAll(HARDWARE_ADDRESS, 'MAC'));
  const container = await lab.container();
  const before = await look();
  const insideBefore = await settled(container);
  const report = await victim(lab, plan, (options) => lab.call('ADD', container, options));
  return await placed(plan, report, async () => {
    const collect = async () => {
      if (lab.subject.speaks('1.1.0')) mustSucceed(await lab.gc([]));
    };
    await lab.del(container, { prevResult: null });
    await collect();
    const inside = await changesIn(container, insideBefore);
    const left = differences(before, await look()).map(nameOnly);
    await again(lab, container);
    await collect();
    const end = await look();
    await lab.end(container);
    return { report, left, inside, end };
  });
}
