/** What a check of a runtime is. */
import type { Check } from '../check.ts';
import type { RuntimeLab } from './runtime-lab.ts';

/** One statement about a runtime. */
export interface RuntimeCheck extends Omit<Check, 'id' | 'skips' | 'run'> {
  /** `runtime/name`, stable. */
  readonly id: `runtime/${string}`;
  /** Tries it. @throws {CheckFailure} when the statement does not hold */
  readonly run: (lab: RuntimeLab) => Promise<void>;
}
