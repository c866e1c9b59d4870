/** What the agent tells, as lines for people or for programs. */
import { type AgentEvent, errorCode, type NodeEvent } from '@heddle/agent';
import { parseCniArgsLeniently } from '@heddle/cni';

/** How much a line matters, least first. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** One of {@link LEVELS}. */
export type Level = (typeof LEVELS)[number];
/** How lines are written. */
export const LOG_FORMATS = ['json', 'text'] as const;

/** What a line says. */
interface LogRecord {
  readonly level: Level;
  readonly event: string;
  /** Written in their order. What is undefined is left out. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** How a log is written. */
export interface LogOptions {
  readonly format: (typeof LOG_FORMATS)[number];
  /** Lines below it are left out. */
  readonly level: Level;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly write: (line: string) => void;
}

/** A log that lines go to. */
export type Log = (record: LogRecord) => void;

/** Makes a log. */
export function openLog({ format, level, now, write }: LogOptions): Log {
  const least = LEVELS.indexOf(level);
  const line = format === 'json' ? jsonLine : textLine;
  return (record) => {
    if (LEVELS.indexOf(record.level) >= least) write(`${line(record, new Date(now()).toISOString())}\n`);
  };
}

/** How much an event matters; what it says is only put together for a line that is written. */
export function logEvent(log: Log, event: AgentEvent | NodeEvent): void {
  log({
    level: levelOf(event),
    event: event.kind,
    get fields() {
      return fieldsOf(event);
    },
  });
}

function levelOf(event: AgentEvent | NodeEvent): Level {
  switch (event.kind) {
    case 'served':
    case 'replayed':
      return event.outcome.exitCode === 0 ? 'info' : 'warn';
    case 'declined':
      return 'debug';
    case 'trouble':
      return event.where === 'client' ? 'warn' : 'error';
    case 'replaced':
      return 'info';
    case 'node':
      return event.why === undefined ? 'info' : 'warn';
  }
}

function fieldsOf(event: AgentEvent | NodeEvent): Readonly<Record<string, unknown>> {
  switch (event.kind) {
    case 'served':
    case 'replayed': {
      const { call, outcome, milliseconds } = event;
      const done = { ...callFields(call), ms: Number(milliseconds.toFixed(3)) };
      if (outcome.exitCode === 0) return done;
      return { ...done, code: errorCode(outcome.stdout), error: messageIn(outcome.stdout) };
    }
    case 'declined':
      return { ...callFields(event.call), reason: event.reason, why: event.why };
    case 'trouble':
      return { where: event.where, what: event.what, error: event.error && textOf(event.error) };
    case 'replaced':
      return {};
    case 'node':
      return { what: event.what, error: event.why };
  }
}

type Call = Extract<AgentEvent, { kind: 'served' }>['call'];

function callFields({ type, env, stdin }: Call) {
  const args = new Map(parseCniArgsLeniently(env['CNI_ARGS'] ?? ''));
  return {
    ...{ command: env['CNI_COMMAND'], plugin: type, network: networkIn(stdin) },
    ...{
      container: env['CNI_CONTAINERID'],
      interface: env['CNI_IFNAME'],
      netns: env['CNI_NETNS'] || undefined,
    },
    ...{ podNamespace: args.get('K8S_POD_NAMESPACE'), podName: args.get('K8S_POD_NAME') },
  };
}

function networkIn(stdin: Uint8Array): string | undefined {
  const name = memberIn(new TextDecoder().decode(stdin), 'name');
  return typeof name === 'string' ? name : undefined;
}

function messageIn(stdout: string): string {
  const message = memberIn(stdout, 'msg');
  const details = memberIn(stdout, 'details');
  return typeof message !== 'string' ? stdout : details === undefined ? message : `${message}: ${details}`;
}

function memberIn(text: string, name: string): unknown {
  try {
    return (JSON.parse(text) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function jsonLine({ level, event, fields }: LogRecord, time: string): string {
  return JSON.stringify({ time, level, event, ...fields });
}

function textLine({ level, event, fields }: LogRecord, time: string): string {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${textValue(value)}`],
  );
  return [time, level.toUpperCase().padEnd(5), event, ...parts].join(' ');
}

/** What could be taken for the next field is quoted. */
function textValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@%+-]+$/.test(text) ? text : JSON.stringify(text);
}
