/** A chain as the stdin of a handover: JSON, because the configurations in it are. */
import * as v from 'valibot';
import type { PluginOutcome } from '../plugin/index.ts';
import { HandoverError } from './handover.ts';
import type { ChainRun } from './plugin-exec.ts';

const message = v.object({
  resultVersion: v.optional(v.string()),
  stopsAtFailure: v.boolean(),
  /** `path` is where the runtime has found the plugin. */
  plugins: v.pipe(
    v.array(v.object({ type: v.string(), path: v.string(), stdin: v.string() })),
    v.minLength(1),
    v.maxLength(1000),
  ),
});
const outcomes = v.array(v.object({ exitCode: v.number(), stdout: v.string(), stderr: v.string() }));

/** A chain without its environment. */
export type ChainMessage = v.InferOutput<typeof message>;

/** Writes a chain. */
export function chainBytes({ runs, resultVersion, stopsAtFailure }: ChainRun): Uint8Array {
  const decoder = new TextDecoder();
  const plugins = runs.map(({ type, path, stdin }) => ({
    ...{ type, path, stdin: typeof stdin === 'string' ? stdin : decoder.decode(stdin) },
  }));
  const body: ChainMessage = {
    stopsAtFailure,
    plugins,
    ...(resultVersion !== undefined && { resultVersion }),
  };
  return new TextEncoder().encode(JSON.stringify(body));
}

/**
 * Reads a chain.
 *
 * @throws {HandoverError} for what is none
 */
export function readChain(bytes: Uint8Array): ChainMessage {
  return read(message, new TextDecoder().decode(bytes), 'a chain of plugins');
}

/**
 * Reads the outcomes of a chain from what the agent says on stdout.
 *
 * @throws {HandoverError} for anything else
 */
export function readOutcomes(stdout: string): readonly PluginOutcome[] {
  return read(outcomes, stdout, 'the outcomes of a chain');
}

function read<T>(schema: v.GenericSchema<unknown, T>, text: string, what: string): T {
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (cause) {
    throw new HandoverError(`read ${what}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
