/** A plan as people and programs read it. */
import { formatTable } from '../output/table.ts';
import type { Plan, Step } from './plan.ts';

/** A step as `-o json` prints it. */
export interface StepJson {
  readonly do: Step['do'];
  readonly path: string;
  /** Where a link leads, or why something is kept. */
  readonly note: string | null;
}

/** The steps for programs. */
export function stepsJson({ steps }: Plan): readonly StepJson[] {
  return steps.map((step) => ({ do: step.do, path: step.path, note: noteOf(step) || null }));
}

/** The steps for people: those that were taken, or with `dryRun` those that would be. */
export function stepsText(
  { steps }: Plan,
  { dryRun, styled }: { readonly dryRun: boolean; readonly styled: boolean },
): string {
  if (steps.length === 0) return 'nothing to do\n';
  return formatTable(
    [
      { title: 'STEP', value: (step: Step) => (dryRun && isDone(step) ? `would ${step.do}` : step.do) },
      { title: 'PATH', value: ({ path }: Step) => path },
      { title: 'NOTE', value: noteOf },
    ],
    steps,
    styled,
  );
}

function isDone(step: Step): boolean {
  return step.do !== 'keep' && step.do !== 'skip';
}

function noteOf(step: Step): string {
  switch (step.do) {
    case 'link':
      return `-> ${step.target}`;
    case 'keep':
    case 'skip':
      return step.why;
    case 'record':
      return 'what belongs to heddle';
    default:
      return '';
  }
}
