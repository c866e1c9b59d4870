/** The environment of an invocation: the caller's own, with the variables of the protocol on top. */
import { type CniArgs, type Command, formatCniArgs } from '../index.ts';

/** Environment variables as Node.js has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** W3C trace context, passed on to plugins. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** What the protocol's variables say. What is left out is set, but empty. */
export interface InvocationVariables {
  readonly command: Command;
  readonly containerID?: string;
  readonly netns?: string;
  readonly ifName?: string;
  readonly args?: CniArgs;
  readonly path: readonly string[];
  readonly trace?: TraceContext | undefined;
}

/** The complete environment for one invocation of a plugin. */
export function pluginEnvironment(
  parent: Environment,
  { command, containerID = '', netns = '', ifName = '', args = [], path, trace }: InvocationVariables,
): Record<string, string> {
  return {
    ...definedVariables(parent),
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerID,
    CNI_NETNS: netns,
    CNI_ARGS: formatCniArgs(args),
    CNI_IFNAME: ifName,
    CNI_PATH: path.join(':'),
    ...(trace !== undefined && traceVariables(trace)),
  };
}

/** An environment without the variables that are not set. */
export function definedVariables(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function traceVariables({
  traceparent,
  tracestate = '',
  baggage = '',
}: TraceContext): Record<string, string> {
  return {
    TRACEPARENT: traceparent,
    ...(tracestate !== '' && { TRACESTATE: tracestate }),
    ...(baggage !== '' && { BAGGAGE: baggage }),
  };
}
