/** What code has run: counters of the modules that are loaded from here on, and what they say after an execution. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { GLOBALS, instrument } from './instrument.ts';

/** An input made the code go round and round. */
export class EndlessError extends Error {
  override readonly name = 'EndlessError';
}

interface LoadedModule {
  readonly file: string;
  readonly first: number;
  readonly blocks: number;
  readonly literals: readonly (string | number)[];
}

const ROOT = new URL('../../../', import.meta.url).href;

/** More than all modules of the project have. */
const CAPACITY = 1 << 17;

/** Rounds of loops in one execution: thousands of times what any of the inputs needs that the corpus holds. */
const ROUNDS = 20_000_000;

const counters = new Uint32Array(CAPACITY);
/** The blocks that were entered since the last reset, so that nobody has to look at all of them. */
const entered = new Uint32Array(CAPACITY);
let enteredCount = 0;
const modules: LoadedModule[] = [];
let used = 0;
let rounds = 0;

function enter(block: number): void {
  const count = counters[block] as number;
  counters[block] = count + 1;
  if (count === 0) entered[enteredCount++] = block;
}

Object.assign(globalThis, {
  [GLOBALS.block]: enter,
  [GLOBALS.loop]: (block: number) => {
    enter(block);
    if (++rounds > ROUNDS) throw new EndlessError(`more than ${ROUNDS} rounds of loops`);
  },
});

/** Counts in modules that are imported from now on, where `isCounted` says so of the path below the project's directory. */
export function countBlocks(isCounted: (path: string) => boolean = isProduct): void {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith(ROOT) || !isCounted(url.slice(ROOT.length))) return nextLoad(url, context);
      const file = fileURLToPath(url);
      const { code, blocks, literals } = instrument(readFileSync(file, 'utf8'), file, used);
      if (used + blocks > CAPACITY) throw new RangeError(`${file}: no room for ${blocks} more counters`);
      modules.push({ file, first: used, blocks, literals });
      used += blocks;
      return { format: 'module-typescript', source: code, shortCircuit: true };
    },
  });
}

/** The sources of packages, without their tests and stand-ins. */
function isProduct(path: string): boolean {
  return /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\/testing[/.-]|\/lab\//.test(path);
}

/** Before an execution. */
export function resetCounters(): void {
  for (let index = 0; index < enteredCount; index++) counters[entered[index] as number] = 0;
  enteredCount = 0;
  rounds = 0;
}

/** After an execution: how many blocks were entered, the same one as often as it was. */
export function work(): number {
  let sum = 0;
  for (let index = 0; index < enteredCount; index++) sum += counters[entered[index] as number] as number;
  return sum;
}

/** After executions: the texts and numbers in the modules that took part in them. */
export function literalsOf(covered: Coverage): readonly (string | number)[] {
  return modules
    .filter(({ first, blocks }) => covered.hasAny(first, first + blocks))
    .flatMap(({ literals }) => literals);
}

/** What has been seen so far: blocks, each with how often, in classes. */
export class Coverage {
  /** A bit for each class. */
  readonly #seen = new Uint16Array(CAPACITY);
  #blocks = 0;

  /** Blocks that were entered. */
  get blocks(): number {
    return this.#blocks;
  }

  /** Takes in the execution that has just been. Says what it showed that was new: whole blocks, or else other counts. */
  add(): 'blocks' | 'counts' | undefined {
    let found: 'blocks' | 'counts' | undefined;
    const seen = this.#seen;
    for (let index = 0; index < enteredCount; index++) {
      const block = entered[index] as number;
      const bit = classOf(counters[block] as number);
      const before = seen[block] as number;
      if ((before & bit) !== 0) continue;
      seen[block] = before | bit;
      if (before === 0) {
        this.#blocks++;
        found = 'blocks';
      } else found ??= 'counts';
    }
    return found;
  }

  /** Whether a block from `first` to before `end` was entered. */
  hasAny(first: number, end: number): boolean {
    return this.#seen.subarray(first, end).some((classes) => classes !== 0);
  }
}

/** After an execution: the blocks that were entered. */
export function enteredBlocks(): readonly number[] {
  return [...entered.subarray(0, enteredCount)];
}

/** 1, 2, 3, to 7, to 15, to 31, to 127, and more. */
function classOf(count: number): number {
  if (count < 4) return 1 << (count - 1);
  if (count < 8) return 8;
  if (count < 16) return 16;
  if (count < 32) return 32;
  return count < 128 ? 64 : 128;
}
