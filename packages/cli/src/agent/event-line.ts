import type { AgentEvent } from '@heddle/agent';

/**
 * What the agent tells, as one line of JSON.
 *
 * @param now milliseconds since the epoch
 */
export function eventLine(event: AgentEvent, now: number): string {
  return JSON.stringify({ time: new Date(now).toISOString(), event: event.kind, ...factsOf(event) });
}

function factsOf(event: AgentEvent): object {
  switch (event.kind) {
    case 'served':
    case 'replayed': {
      const { outcome, milliseconds } = event;
      const facts = { ...callFacts(event.call.type, event.call.env), ms: Number(milliseconds.toFixed(3)) };
      return outcome.exitCode === 0 ? facts : { ...facts, error: errorOf(outcome.stdout) };
    }
    case 'declined':
      return { ...callFacts(event.call.type, event.call.env), why: event.why };
    case 'trouble':
      return { what: event.what, ...(event.error !== undefined && { error: textOf(event.error) }) };
    case 'replaced':
      return {};
  }
}

function callFacts(plugin: string, env: Readonly<Record<string, string>>) {
  return {
    ...{ plugin, command: env['CNI_COMMAND'], container: env['CNI_CONTAINERID'] },
    ...{ interface: env['CNI_IFNAME'], netns: env['CNI_NETNS'] },
  };
}

/** The error object as the plugin printed it. */
function errorOf(stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
