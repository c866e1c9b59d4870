/** The flags of `heddle explain`. */
import { isJsonObject, type JsonObject, parseCniArgs, parseJson } from '@heddle/cni';
import { VIEWPOINTS, type Viewpoint } from '@heddle/doctor';
import type { CommonFlags } from '../command.ts';
import { ATTACHMENT_PARAMETERS } from '../commands/attachment-flags.ts';
import { RUNTIME_FLAGS } from '../request/runtime.ts';

/** See the file's comment. */
export interface ExplainFlags extends CommonFlags {
  readonly against?: Viewpoint | undefined;
  readonly plan?: boolean | undefined;
  readonly netns?: string | undefined;
  readonly ifname?: string | undefined;
  readonly containerId?: string | undefined;
  readonly args?: ReturnType<typeof parseCniArgs> | undefined;
  readonly cap?: JsonObject | undefined;
  readonly cacheDir?: string | undefined;
}

/** How they are declared. */
export const EXPLAIN_FLAGS = {
  against: {
    kind: 'parsed',
    parse: viewpointOf,
    brief: `whose ADD it is: ${VIEWPOINTS.join(', ')} (default heddle)`,
    placeholder: 'runtime',
    optional: true,
  },
  plan: {
    kind: 'boolean',
    brief: 'run the plugins in throw-away namespaces, and show what they change; needs root',
    optional: true,
    withNegated: false,
  },
  netns: {
    kind: 'parsed',
    parse: String,
    brief: 'network namespace of the container: a path, or a name that `ip netns` knows',
    placeholder: 'netns',
    optional: true,
  },
  ifname: ATTACHMENT_PARAMETERS.flags.ifname,
  containerId: {
    kind: 'parsed',
    parse: String,
    brief: "the container's ID",
    placeholder: 'id',
    optional: true,
  },
  args: {
    kind: 'parsed',
    parse: parseCniArgs,
    brief: 'CNI_ARGS, as KEY=value;… (default: CNI_ARGS, else what the runtime sends)',
    placeholder: 'pairs',
    optional: true,
  },
  cap: {
    kind: 'parsed',
    parse: capabilityArgs,
    brief: 'capability arguments, a JSON object (default: CAP_ARGS)',
    placeholder: 'json',
    optional: true,
  },
  cacheDir: RUNTIME_FLAGS.cacheDir,
} as const;

function viewpointOf(text: string): Viewpoint {
  const plain = text === 'cri-o' ? 'crio' : text;
  const found = VIEWPOINTS.find((name) => name === plain);
  if (found === undefined) throw new SyntaxError(`a runtime is one of ${VIEWPOINTS.join(', ')}`);
  return found;
}

function capabilityArgs(text: string): JsonObject {
  const value = parseJson(text, { what: 'read --cap' });
  if (!isJsonObject(value)) throw new SyntaxError('capability arguments are a JSON object');
  return value;
}
