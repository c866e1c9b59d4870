/** The search itself: inputs that reach new code are kept and changed further. */
import { Choices } from '../../support/choices.ts';
import { Coverage, EndlessError, enteredBlocks, literalsOf, resetCounters, work } from './coverage.ts';
import { minimise } from './minimise.ts';
import { mutate } from './mutate.ts';
import type { Materials } from './mutate-bytes.ts';
import { bytesOf, type Target } from './target.ts';

/** How to search. */
export interface FuzzOptions {
  /** The same seed, inputs and sources lead to the same search. */
  readonly seed: number;
  /** Inputs to begin with besides the target's own. */
  readonly inputs: readonly Uint8Array[];
  /** Whether to go on, asked before each execution. */
  readonly goOn: (executions: number) => boolean;
  /** Leaves it to chance alone, for comparison. */
  readonly blind?: boolean;
}

/** An input for which what has to be true is not. */
export interface Fault {
  readonly input: Uint8Array;
  readonly error: Error;
}

/** What came out. */
export interface FuzzReport {
  readonly executions: number;
  /** Blocks that were entered. */
  readonly blocks: number;
  /** The smallest input for each fault. */
  readonly faults: readonly Fault[];
  /** Inputs that entered a block first, in order. */
  readonly discoveries: readonly Uint8Array[];
}

/** Executes the inputs, then changes of them. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzReport> {
  const search = new Search(target, options);
  for (const input of [...target.seeds(), ...options.inputs]) await search.take(input);
  search.readLiterals();
  while (options.goOn(search.executions)) await search.step();
  return search.report();
}

/** Executes one input. Throws when what has to be true is not, the time that it takes included. */
export async function execute(target: Target, input: Uint8Array): Promise<void> {
  resetCounters();
  await target.run(input);
  const done = work();
  const allowed = ALLOWED.always + ALLOWED.perByte * input.length;
  if (done > allowed) {
    throw new EndlessError(`${done} blocks were entered for ${input.length} bytes, ${allowed} are allowed`);
  }
}

/** Enough for a cold start, and so much for each byte that only what grows faster than the input exceeds it. */
const ALLOWED = { always: 200_000, perByte: 400 } as const;

/** How much is tried to make an input smaller: one that a person has to understand, and one that is only kept. */
const TRIES = { fault: 3000, discovery: 200 } as const;

class Search {
  readonly #target: Target;
  readonly #options: FuzzOptions;
  readonly #choices: Choices;
  readonly #coverage = new Coverage();
  readonly #pool: Uint8Array[] = [];
  readonly #discoveries: Uint8Array[] = [];
  readonly #faults = new Map<string, Fault>();
  #dictionary: readonly Uint8Array[] = [];
  executions = 0;

  constructor(target: Target, options: FuzzOptions) {
    this.#target = target;
    this.#options = options;
    this.#choices = new Choices(options.seed);
  }

  readLiterals(): void {
    if (this.#options.blind === true) return;
    this.#dictionary = wordsOf(literalsOf(this.#coverage));
  }

  async step(): Promise<void> {
    const materials: Materials = {
      choices: this.#choices,
      dictionary: this.#dictionary,
      other: () => this.#pick(),
    };
    await this.take(mutate(this.#pick(), this.#target.shape, materials));
  }

  async take(input: Uint8Array): Promise<void> {
    this.executions++;
    const error = await this.#failureOf(input);
    if (error !== undefined) return this.#keepFault(input, error);
    const news = this.#coverage.add();
    if (news === 'blocks') this.#discoveries.push(input);
    if (news !== undefined && (this.#options.blind !== true || this.#pool.length === 0))
      this.#pool.push(input);
  }

  report(): FuzzReport {
    return {
      executions: this.executions,
      blocks: this.#coverage.blocks,
      faults: [...this.#faults.values()],
      discoveries: this.#discoveries,
    };
  }

  async #failureOf(input: Uint8Array): Promise<Error | undefined> {
    try {
      await execute(this.#target, input);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
    }
  }

  /** Every second time one of the last few: they lead on. */
  #pick(): Uint8Array {
    const size = this.#pool.length;
    const recent = Math.min(size, 8);
    const at = this.#choices.chance(5) ? size - 1 - this.#choices.below(recent) : this.#choices.below(size);
    return this.#pool[at] ?? new Uint8Array(0);
  }

  async #keepFault(input: Uint8Array, error: Error): Promise<void> {
    const kind = kindOf(error);
    if (this.#faults.has(kind)) return;
    const smallest = await minimise(
      input,
      this.#target.shape,
      async (candidate) => {
        const other = await this.#failureOf(candidate);
        return other !== undefined && kindOf(other) === kind;
      },
      TRIES.fault,
    );
    this.#faults.set(kind, { input: smallest, error: (await this.#failureOf(smallest)) ?? error });
  }
}

/**
 * The smallest of the inputs that together enter every block that all of them enter.
 *
 * @param given what is entered anyway, by inputs that need not be kept
 */
export async function smallestCover(
  target: Target,
  inputs: readonly Uint8Array[],
  given: Iterable<Uint8Array>,
): Promise<readonly Uint8Array[]> {
  const blocksOf = async (input: Uint8Array): Promise<ReadonlySet<number>> => {
    try {
      await execute(target, input);
    } catch {
      return new Set();
    }
    return new Set(enteredBlocks());
  };
  const covered = new Set<number>();
  for (const input of given) for (const block of await blocksOf(input)) covered.add(block);
  const kept: Uint8Array[] = [];
  for (const input of inputs.toSorted((a, b) => a.length - b.length)) {
    const fresh = [...(await blocksOf(input))].filter((block) => !covered.has(block));
    if (fresh.length === 0) continue;
    for (const block of fresh) covered.add(block);
    const small = await minimise(
      input,
      target.shape,
      async (candidate) => {
        const blocks = await blocksOf(candidate);
        return fresh.every((block) => blocks.has(block));
      },
      TRIES.discovery,
    );
    kept.push(small);
  }
  return kept;
}

/** The same for two errors that are one fault: where it was thrown, and with which words, numbers and quotes left out. */
function kindOf(error: Error): string {
  const place =
    /packages\/\S+|test\/fuzz\/\S+/.exec(error.stack?.replace(error.message, '') ?? '')?.[0] ?? '';
  return `${error.name} ${place} ${error.message.replaceAll(/\d+|"[^"]*"|'[^']*'/g, '').slice(0, 60)}`;
}

function wordsOf(literals: readonly (string | number)[]): readonly Uint8Array[] {
  return [...new Set(literals)].flatMap((literal) => {
    if (typeof literal === 'string')
      return literal.length === 0 || literal.length > 64 ? [] : [bytesOf(literal)];
    if (!Number.isSafeInteger(literal) || literal < 0) return [];
    const size = literal < 0x100 ? 1 : literal < 0x10000 ? 2 : literal < 2 ** 32 ? 4 : 8;
    const bytes = Uint8Array.from({ length: size }, (_, index) => Math.floor(literal / 256 ** index) & 0xff);
    return [bytes, bytes.toReversed(), bytesOf(String(literal))];
  });
}
