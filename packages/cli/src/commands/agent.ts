import {
  Agent,
  type AgentEvent,
  agentPlace,
  askStatus,
  handedDescriptor,
  handedDoor,
  ownDoor,
} from '@heddle/agent';
import { DelQueue } from '@heddle/cni/runtime';
import { PLUGINS } from '@heddle/plugins';
import { eventLine } from '../agent/event-line.ts';
import { statusText } from '../agent/status-text.ts';
import { type Cli, type CommonFlags, defineCommand } from '../command.ts';
import { emit } from '../output/emit.ts';
import { HEDDLE_VERSION } from '../version.ts';

/** `heddle agent`: the resident process, and how it is. */
export const agentCommand = defineCommand<CommonFlags, ['run' | 'status' | undefined]>({
  name: 'agent',
  group: 'Set up this node',
  brief: 'serve the plugins from a process that stays',
  about: [
    'Serves the calls that the plugins of `heddle install --agent` hand over, until SIGTERM or SIGINT; then it takes nobody ' +
      'in any more, ends what it has begun, and exits. It stays in the foreground and tells of each call on stderr, one JSON ' +
      'object a line. A second agent takes over from the first without a gap. Under systemd it takes the socket that it is handed.',
    '`heddle agent status` asks the agent that runs how it is.',
  ],
  examples: [
    { command: 'heddle agent', what: 'serves calls in the foreground' },
    { command: 'heddle agent status', what: 'shows how many calls were served, and how fast' },
  ],
  usage: '[run|status]',
  json: `interface Output { // of status
  version: string;
  pid: number;
  since: string;
  calls: { [command: string]: { done: number; failed: number; milliseconds: number } };
  declined: number;
  replayed: number;
  troubles: number;
  clients: number;
  waitingDels: number;
  memory: number;
}`,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { placeholder: 'run|status', parse: action, brief: 'what to do (default: run)', optional: true },
      ],
    },
  },
  async run(cli, flags, what) {
    if (what === 'status') {
      const status = await askStatus(agentPlace('socket', cli.env));
      emit(
        cli,
        flags,
        () => status,
        () => statusText(status, cli.now()),
      );
    } else {
      await serveUntilTold(cli);
    }
    return undefined;
  },
});

async function serveUntilTold(cli: Cli): Promise<void> {
  const descriptor = handedDescriptor(cli.env, process.pid);
  const ended = Promise.withResolvers<void>();
  const agent = new Agent({
    door: descriptor === undefined ? ownDoor(agentPlace('socket', cli.env)) : handedDoor(descriptor),
    plugins: PLUGINS,
    queue: new DelQueue(agentPlace('queue', cli.env)),
    version: HEDDLE_VERSION,
    onEvent(event: AgentEvent) {
      cli.stderr.write(`${eventLine(event, cli.now())}\n`);
      if (event.kind === 'replaced') ended.resolve();
    },
  });
  using _signals = cli.signals.listen(['SIGTERM', 'SIGINT'], () => ended.resolve());
  await agent.start();
  await ended.promise;
  await agent.stop();
}

function action(text: string): 'run' | 'status' {
  if (text === 'run' || text === 'status') return text;
  throw new SyntaxError(`there is nothing like "agent ${text}"`);
}
