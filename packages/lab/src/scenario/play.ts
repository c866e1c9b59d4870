/** Scenarios as they happen. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RunningLab } from '../keeper/client.ts';
import { LabError } from '../lab-error.ts';
import { matrixText } from '../probe/matrix-text.ts';
import type { Step } from './scenario.ts';

/**
 * Does one step after the other.
 *
 * @param tell hears of each step before it is done
 * @throws {LabError} LAB_FAILED for the first one that does not come out as it says
 */
export async function playSteps(
  lab: RunningLab,
  steps: readonly Step[],
  tell: (line: string) => void = () => undefined,
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    tell(step.do === 'say' ? step.text : `${index + 1}. ${stepText(step)}`);
    await playStep(lab, step, index + 1);
  }
}

async function playStep(lab: RunningLab, step: Step, number: number): Promise<void> {
  const fail = (why: string): never => {
    throw new LabError('LAB_FAILED', `step ${number}, ${stepText(step)}: ${why}`);
  };
  switch (step.do) {
    case 'say':
      return;
    case 'wait':
      return await pause(step.seconds * 1000);
    case 'cut':
    case 'heal':
      return void (await lab.ask(step.do, { node: step.node }));
    case 'weather':
      return void (await lab.ask('weather', step));
    case 'add-pod':
      return void (await lab.ask('addPod', step));
    case 'remove-pod':
      return void (await lab.ask('removePod', step));
    case 'kill-etcd':
      return void (await lab.ask('killEtcd', step));
    case 'resume-etcd':
      return void (await lab.ask('resumeEtcd', step));
    case 'matrix':
      return await within(step.seconds, fail, async () => {
        const { from, to, hosts } = step;
        const matrix = await lab.ask('matrix', { from, to, nodes: hosts, timeout: 1000 });
        if (matrix.reaches.length === 0) return 'nobody is to ask anybody';
        const isOpen = ({ failures }: { failures: object }) => Object.keys(failures).length === 0;
        const wanted = step.open === 'all' ? matrix.reaches.every(isOpen) : !matrix.reaches.some(isOpen);
        return wanted ? undefined : `not so:\n${matrixText(matrix)}`;
      });
    case 'ping':
      return await within(step.seconds, fail, async () => {
        const { from, to, family, size } = step;
        const outcome = await lab.ask('ping', { from, to, family, size, fragments: false });
        const error = outcome.answered ? undefined : outcome.error;
        return outcome.answered === step.answered && error === step.error
          ? undefined
          : JSON.stringify(outcome);
      });
    case 'transfer': {
      const { from, to, family, bytes } = step;
      const outcome = await lab.ask('transfer', { from, to, family, bytes });
      return outcome.complete ? undefined : fail(`${outcome.received} bytes came, then: ${outcome.error}`);
    }
    case 'run':
      return await within(step.seconds, fail, async () => {
        const { status, stdout, stderr } = await lab.ask('run', step);
        if (status !== step.status) return `it ended with ${status}: ${stderr.trim() || stdout.trim()}`;
        const isWanted = step.prints === undefined || new RegExp(step.prints, 'm').test(stdout);
        return isWanted ? undefined : `it printed:\n${stdout}`;
      });
  }
}

/** Tries until nothing is wrong any more. */
async function within(
  seconds: number,
  fail: (why: string) => never,
  attempt: () => Promise<string | undefined>,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const wrong = await attempt();
    if (wrong === undefined) return;
    if (performance.now() > end) fail(wrong);
    await pause(100);
  }
}

function stepText(step: Step): string {
  const { do: what, ...others } = step;
  const told = Object.entries(others).filter(([name, value]) => value !== undefined && name !== 'seconds');
  return [
    what,
    ...told.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ].join(' ');
}
