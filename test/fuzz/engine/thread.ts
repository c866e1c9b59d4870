/** What a thread of `make fuzz` does: one target, for some time, or one input. */
import { readFileSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { FAULT, replaceStored, storedInputs, storeInput } from './corpus.ts';
import { countBlocks } from './coverage.ts';
import { execute, fuzz, smallestCover } from './fuzz.ts';
import type { Target } from './target.ts';

/** What to do. */
export type Order =
  | { readonly target: string; readonly seed: number; readonly milliseconds: number }
  /** The path of an input. */
  | { readonly target: string; readonly input: string };

/** What came of it. */
export interface Told {
  readonly text: string;
  readonly faults: number;
}

/** Bytes of the memory in which the current input is: number of the execution, length, then the input. */
export const INPUT_SIZE = 8 + (1 << 20);

if (parentPort !== null) await obey(parentPort, workerData as SharedArrayBuffer);

async function obey(port: MessagePort, shared: SharedArrayBuffer): Promise<void> {
  countBlocks();
  const { targetNamed } = await import('../targets/index.ts');
  port.on('message', async (order: Order) => {
    const target = observed(targetNamed(order.target), shared);
    port.postMessage(await ('input' in order ? replay(target, order.input) : search(target, order)));
  });
}

async function replay(target: Target, path: string): Promise<Told> {
  try {
    await execute(target, new Uint8Array(readFileSync(path)));
    return { text: `${target.name}: ${path} shows no fault`, faults: 0 };
  } catch (error) {
    return { text: `${target.name}: ${path}\n${stackOf(error)}`, faults: 1 };
  }
}

/** The target, which now leaves each input where the main thread finds it should the execution never end. */
function observed(target: Target, shared: SharedArrayBuffer): Target {
  const header = new Uint32Array(shared, 0, 2);
  const current = new Uint8Array(shared, 8);
  return {
    ...target,
    run(input) {
      current.set(input);
      header[1] = input.length;
      Atomics.add(header, 0, 1);
      return target.run(input);
    },
  };
}

async function search(
  target: Target,
  { seed, milliseconds }: { readonly seed: number; readonly milliseconds: number },
): Promise<Told> {
  const end = performance.now() + milliseconds;
  const stored = storedInputs(target.name);
  const inputs = stored.map(({ input }) => input);
  const { executions, blocks, faults, discoveries } = await fuzz(target, {
    ...{ seed, inputs },
    goOn: () => performance.now() < end,
  });
  const given = [
    ...target.seeds(),
    ...stored.flatMap(({ name, input }) => (name.startsWith(FAULT) ? [input] : [])),
  ];
  const kept = await smallestCover(target, [...inputs, ...discoveries], given);
  replaceStored(target.name, kept);
  const found = faults.map(({ input, error }) => {
    const path = storeInput(target.name, input, undefined, FAULT);
    return `\n  ${path}\n    ${stackOf(error).split('\n').slice(0, 12).join('\n    ')}`;
  });
  const figures = `${executions} executions, ${blocks} blocks, ${kept.length} inputs kept, ${faults.length} faults`;
  return { text: `${target.name}: ${figures}${found.join('')}`, faults: faults.length };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
