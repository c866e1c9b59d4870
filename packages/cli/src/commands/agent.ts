import { agentPlace, askMetrics, askStatus } from '@heddle/agent';
import { LEVELS, LOG_FORMATS } from '../agent/log.ts';
import { type ServeOptions, serveUntilTold } from '../agent/serve.ts';
import { statusText } from '../agent/status-text.ts';
import { type CommonFlags, defineCommand } from '../command.ts';
import { emit } from '../output/emit.ts';

const ACTIONS = ['run', 'status', 'metrics'] as const;
type Action = (typeof ACTIONS)[number];

/** `heddle agent`: the resident process, and how it is. */
export const agentCommand = defineCommand<CommonFlags & ServeOptions, [Action | undefined]>({
  name: 'agent',
  group: 'Set up this node',
  brief: 'serve the plugins from a process that stays',
  about: [
    'Serves the calls that the plugins of `heddle install --agent` hand over, until SIGTERM or SIGINT; then it takes nobody ' +
      'in any more, ends what it has begun, and exits. It stays in the foreground and tells of each call on stderr, one line ' +
      'a call. A second agent takes over from the first without a gap. Under systemd it takes the socket that it is handed, ' +
      'says when it is ready, and keeps the watchdog fed.',
    '`heddle agent status` asks the agent that runs how it is, `heddle agent metrics` for its metrics as Prometheus reads ' +
      'them; with --metrics it serves those over HTTP as well. Calls with a TRACEPARENT are traced when --traces or ' +
      'OTEL_EXPORTER_OTLP_ENDPOINT says where to.',
    'With --node it is a node of a cluster as well: it joins the store that the file names, keeps the routes to the other ' +
      'nodes, and gives pods their addresses. While the store is away, calls that need it are told so, and pods keep their ' +
      'traffic.',
  ],
  examples: [
    { command: 'heddle agent', what: 'serves calls in the foreground' },
    { command: 'heddle agent status', what: 'shows how many calls were served, and how fast' },
    {
      command: 'heddle agent --metrics 127.0.0.1:9464 --log-format text --log-level warn',
      what: 'lets Prometheus in, and tells only of what went wrong',
    },
  ],
  usage: '[run|status|metrics] [flag]...',
  json: `interface Output { // of status; all times in milliseconds
  version: string;
  pid: number;
  since: string;
  socket: string | null; // null: handed over by systemd
  calls: {
    [command: string]: { done: number; failed: number; milliseconds: number; plugins: { [type: string]: Calls } };
  };
  errors: { [code: string]: number };
  declined: number;
  replayed: number;
  troubles: number;
  clients: number;
  waitingCallers: number | null; // null: the kernel does not tell
  waitingForTurn: number;
  waitingDels: number;
  memory: number; // resident bytes
  cpu: number; // seconds
  node: Node | null; // null: the agent is no node of a cluster
}
interface Node {
  name: string;
  store: string;
  socket: string;
  ready: boolean; // pods can have addresses now
  reason?: string; // why not
  hint?: string;
  membership: 'joining' | 'joined' | 'away' | 'refused' | 'left';
  blocks: { cidr: string; pool: string; held: number; resting: number }[];
  ahead?: { family: 4 | 6; free: number; isBehind: boolean }[]; // in the mode cluster-pool
  waitingReleases: number;
  leaksReleased: number;
  routing?: object; // how its routes are
}
interface Calls { done: number; failed: number; milliseconds: number; p50: number; p99: number }`,
  parameters: {
    flags: {
      metrics: {
        kind: 'parsed',
        parse: String,
        brief: 'where to serve metrics over HTTP: host:port, [v6]:port, :port or the path of a socket',
        placeholder: 'address',
        optional: true,
      },
      logFormat: {
        kind: 'enum',
        values: LOG_FORMATS,
        brief: `how to tell of calls: ${LOG_FORMATS.join(', ')}`,
        default: 'json',
      },
      logLevel: {
        kind: 'enum',
        values: LEVELS,
        brief: `from which level on: ${LEVELS.join(', ')}`,
        default: 'info',
      },
      node: {
        kind: 'parsed',
        parse: String,
        brief: 'be the node of a cluster that this file describes',
        placeholder: 'file',
        optional: true,
      },
      traces: {
        kind: 'parsed',
        parse: String,
        brief: 'a file that traces are appended to, as OTLP in JSON',
        placeholder: 'file',
        optional: true,
      },
    },
    positional: {
      kind: 'tuple',
      parameters: [
        {
          placeholder: ACTIONS.join('|'),
          parse: action,
          brief: 'what to do (default: run)',
          optional: true,
        },
      ],
    },
  },
  async run(cli, flags, what) {
    const socket = agentPlace('socket', cli.env);
    if (what === 'status') {
      const status = await askStatus(socket);
      emit(
        cli,
        flags,
        () => status,
        (styled) => statusText(status, cli.now(), styled),
      );
    } else if (what === 'metrics') {
      cli.stdout.write(await askMetrics(socket));
    } else {
      await serveUntilTold(cli, flags);
    }
    return undefined;
  },
});

function action(text: string): Action {
  const found = ACTIONS.find((each) => each === text);
  if (found === undefined) throw new SyntaxError(`there is nothing like "agent ${text}"`);
  return found;
}
