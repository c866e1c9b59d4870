/** Scenarios: a lab, and what happens in it, in a file: for tests, for documentation, to show a fault to somebody else. */
import { decodeConfig } from '@heddle/cni';
import * as v from 'valibot';
import { labSpec } from '../spec.ts';

const name = v.string();
const names = v.optional(v.array(name));
const seconds = v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(3600)), 30);
const way = { from: name, to: name, family: v.optional(v.picklist([4, 6])) };
const size = v.optional(v.pipe(v.number(), v.integer(), v.minValue(28), v.maxValue(65535)));

const step = v.variant('do', [
  /** For whoever reads along. */
  v.strictObject({ do: v.literal('say'), text: v.string() }),
  v.strictObject({ do: v.literal('cut'), node: name }),
  v.strictObject({ do: v.literal('heal'), node: name }),
  v.strictObject({ do: v.literal('weather'), node: name, delay: v.number(), loss: v.number() }),
  v.strictObject({ do: v.literal('add-pod'), node: name, pod: name }),
  v.strictObject({ do: v.literal('remove-pod'), pod: name }),
  v.strictObject({ do: v.literal('kill-etcd'), member: name }),
  v.strictObject({ do: v.literal('resume-etcd'), member: name }),
  v.strictObject({ do: v.literal('wait'), seconds: v.number() }),
  /** Within some seconds all ways from these to those are open, or none of them is. */
  v.strictObject({
    do: v.literal('matrix'),
    from: names,
    to: names,
    hosts: v.optional(v.boolean(), false),
    open: v.optional(v.picklist(['all', 'none']), 'all'),
    seconds,
  }),
  /** One ping, which is not cut into fragments. `error` is what the kernel says to it, such as EMSGSIZE. */
  v.strictObject({
    do: v.literal('ping'),
    ...way,
    size,
    answered: v.optional(v.boolean(), true),
    error: v.optional(v.string()),
    seconds,
  }),
  /** Bytes over TCP, all of which arrive as they were sent. */
  v.strictObject({
    do: v.literal('transfer'),
    ...way,
    bytes: v.pipe(v.number(), v.integer(), v.minValue(1)),
  }),
  /** A command on a machine; `prints` is a regular expression that what it prints must match, within some seconds. */
  v.strictObject({
    do: v.literal('run'),
    on: name,
    command: v.pipe(v.array(v.string()), v.minLength(1)),
    status: v.optional(v.number(), 0),
    prints: v.optional(v.pipe(v.string(), v.check(isPattern, 'expected a regular expression'))),
    seconds,
  }),
]);

const scenario = v.strictObject({
  /** What it shows. */
  about: v.optional(v.string(), ''),
  lab: labSpec,
  steps: v.array(step),
});

/** What happens. */
export type Step = v.InferOutput<typeof step>;

/** See the file's comment. */
export type Scenario = v.InferOutput<typeof scenario>;

/**
 * Reads a scenario.
 *
 * @throws {ConfigError} with file, line and column of what is not valid
 * @throws {DecodeError} with the place where a text stops to be JSON
 */
export function parseScenario(text: string, file: string): Scenario {
  return decodeConfig(scenario, text, { what: 'scenario', file });
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'm');
    return true;
  } catch {
    return false;
  }
}
