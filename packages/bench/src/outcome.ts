/** What the driver says of a batch. */
import { errnoText } from './errno-text.ts';
import { decodeTexts } from './texts.ts';

/** How one call ended. */
export interface StepOutcome {
  /** `late` was killed after the patience was over; `unstarted` could not be executed. */
  readonly ending: 'exited' | 'signalled' | 'late' | 'unstarted';
  /** Exit code, signal, or errno. */
  readonly code: number;
  /** Milliseconds since the batch began. */
  readonly began: number;
  readonly milliseconds: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What became of a pod's packet: how many milliseconds after the last call it was there, or why it was not. */
type Arrival = { readonly milliseconds: number } | { readonly lost: string };

/** How one job ended. */
export interface JobOutcome {
  readonly steps: readonly StepOutcome[];
  readonly arrivals: readonly Arrival[];
  /** Whether the pod has the interface afterwards; `undefined` when that cannot be told. */
  readonly hasInterface: boolean | undefined;
}

/** How a batch ended. */
export interface BatchOutcome {
  /** Milliseconds from the first call to the last, packets included. */
  readonly milliseconds: number;
  readonly jobs: readonly JobOutcome[];
}

/** Reads the answer of the driver's `run`. */
export function decodeBatch([wall, ...jobs]: readonly Buffer[]): BatchOutcome {
  return { milliseconds: Number(wall) / 1e6, jobs: jobs.map(decodeJob) };
}

function decodeJob(job: Buffer): JobOutcome {
  const [steps, arrivals, present] = decodeTexts(job);
  const numbers = decodeTexts(arrivals ?? Buffer.alloc(0)).map(Number);
  return {
    steps: decodeTexts(steps ?? Buffer.alloc(0)).map(decodeStep),
    arrivals: numbers.flatMap((error, index) =>
      index % 2 === 0 ? arrivalOf(error, numbers[index + 1] ?? 0) : [],
    ),
    hasInterface: Number(present) < 0 ? undefined : Number(present) === 1,
  };
}

function decodeStep(step: Buffer): StepOutcome {
  const [ending, code, began, took, stdout, stderr] = decodeTexts(step).map((text) => text.toString('utf8'));
  return {
    ending: ending as StepOutcome['ending'],
    code: Number(code),
    began: Number(began) / 1e6,
    milliseconds: Number(took) / 1e6,
    stdout: stdout ?? '',
    stderr: stderr ?? '',
  };
}

function arrivalOf(error: number, nanoseconds: number): Arrival {
  if (error === 0) return { milliseconds: nanoseconds / 1e6 };
  return { lost: errnoText(error) };
}
