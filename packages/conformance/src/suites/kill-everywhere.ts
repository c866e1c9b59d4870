/** Kills at one call after the other, on one node that has had attachments before. */
import type { CrashPlan, CrashReport } from '../crash/tracer.ts';
import { CheckFailure, DoesNotApply, must } from '../failure.ts';
import type { Call } from '../lab/call.ts';
import type { Container } from '../lab/container.ts';
import { type CallOptions, type Lab, mustSucceed } from '../lab/lab.ts';
import { differences, missingFrom, type Snapshot } from '../lab/snapshot.ts';
import { nodeUnchanged, settled, withoutCommonIpv6 } from './unchanged.ts';
import { mustBeSound, mustComeBack } from './unless-always.ts';
import { placeText, plansFor, type Victim } from './victims.ts';

/** What is done, and what is done about it afterwards. */
export interface Scene {
  readonly command: string;
  readonly prepare: (lab: Lab, container: Container) => Promise<unknown>;
  /** In what somebody is killed. */
  readonly call: (lab: Lab, container: Container, options: CallOptions) => Promise<Call>;
  /** What a runtime does before GC. */
  readonly clean: (lab: Lab, container: Container) => Promise<unknown>;
}

/** See the file's comment; each time with a fresh container. */
export async function killEverywhere(lab: Lab, scene: Scene, victim: Victim): Promise<void> {
  await lab.warmUp();
  const before = await lab.snapshot();
  const undisturbed = await round(lab, scene, victim, before, { point: 0, when: 'before' });
  for (const plan of plansFor(lab, undisturbed.report, SAMPLE)) {
    const { left, report } = await round(lab, scene, victim, before, plan);
    // Where less was done, less has to be undone.
    const more = missingFrom(undisturbed.left, left);
    must(
      more.length === 0,
      `a container as after ${scene.command}, for a kill ${placeText(plan, report)}`,
      () => more.join('\n'),
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

async function round(
  lab: Lab,
  scene: Scene,
  victim: Victim,
  before: Snapshot,
  plan: CrashPlan,
): Promise<Round> {
  const container = await lab.container();
  const inside = await settled(container);
  await scene.prepare(lab, container);
  const report = await victim(lab, plan, (options) => scene.call(lab, container, options));
  return await placed(plan, report, async () => {
    await scene.clean(lab, container);
    if (lab.subject.speaks('1.1.0')) mustSucceed(await lab.gc([]));
    const left = container.isAlive ? await changesIn(container, inside) : [];
    await nodeUnchanged(lab, before);
    container.result = undefined;
    if (plan.point > 0) await again(lab, container);
    if (container.isAlive) await lab.end(container);
    return { report, left };
  });
}

/** Adds to a failure where the kill was that it comes after. What fails without one is not about kills. */
export async function placed<T>(plan: CrashPlan, report: CrashReport, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
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

/** In what a container differs from before, without what tells it from others. */
export async function changesIn(container: Container, inside: Snapshot): Promise<Snapshot> {
  const lines = differences(inside, await withoutCommonIpv6(container));
  return lines.map((line) => anonymous(line, container));
}

/** What the kit gives each container. */
function anonymous(line: string, { n }: Container): string {
  return line
    .replaceAll(new RegExp(`\\b10\\.220\\.${n}\\.`, 'g'), '10.220.N.')
    .replaceAll(`fd00:220:${n.toString(16)}:`, 'fd00:220:N:')
    .replaceAll(HARDWARE_ADDRESS, 'MAC');
}

/** What the kernel makes up for each link. */
export const HARDWARE_ADDRESS = /\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b/g;

/** The pod comes back under its names. */
export async function again(lab: Lab, container: Container): Promise<void> {
  const successor = container.isAlive ? container : await lab.container(container.id);
  await mustComeBack(lab, successor);
  if (lab.subject.speaks('0.4.0')) await mustBeSound(lab, successor);
  await lab.del(successor);
  if (successor !== container) await lab.end(successor);
}
