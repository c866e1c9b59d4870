import { agentPlace, askStatus } from '@heddle/agent';
import { closest } from '@heddle/cni';
import { removeGoneNode } from '@heddle/routing';
import { type Cli, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { reachStore } from '../node/cluster-store.ts';
import { ownConfig } from '../node/config-file.ts';
import { CONFIG_FLAGS, type ConfigFlags } from '../node/flags.ts';
import { nodesOf, nodesText } from '../node/list.ts';
import { nodeStatusText } from '../node/status-text.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';

type Action = (cli: Cli, flags: ConfigFlags, name: string | undefined) => Promise<number | undefined>;

const ACTIONS: Readonly<Record<string, Action>> = { ls, status, rm };

/** `heddle node`. */
export const nodeCommand = defineCommand<ConfigFlags, readonly [string, string | undefined]>({
  name: 'node',
  group: 'See what is attached',
  brief: 'show the nodes of the cluster, and how this one is',
  about: [
    '`ls` lists the nodes that have joined and not left: whether they are alive, where they are reached, which blocks of ' +
      'addresses they have. `status` asks the agent of this node: whether pods can be attached, the MTU, the way to every block ' +
      `of every other node, and what is not as it should be; it ends with ${EXIT.FAILED} when something is not. \`rm\` takes a node out ` +
      'that is gone for good, with its addresses, without waiting until that happens by itself.',
  ],
  examples: [
    { command: 'heddle node ls', what: 'shows who is in the cluster' },
    { command: 'heddle node status', what: 'shows what this node knows of the others' },
    { command: 'heddle node rm node7', what: 'forgets a machine that burnt down' },
  ],
  usage: '<ls|status|rm> [name]',
  json: `// of ls
type Nodes = {
  name: string;
  state: 'alive' | 'gone';
  addresses: string[];
  mtu: number | null;
  blocks: { cidr: string; pool: string; held: number }[];
  labels: { [name: string]: string };
  version: string | null;
  joined: string | null;
  goneSince: string | null;
}[];
// of status
interface Status {
  name: string;
  store: string;
  socket: string;
  ready: boolean;
  reason?: string;
  hint?: string;
  membership: 'joining' | 'joined' | 'away' | 'refused' | 'left';
  blocks: { cidr: string; pool: string; held: number; resting: number }[];
  ahead?: { family: 4 | 6; free: number; isBehind: boolean }[]; // in the mode cluster-pool
  waitingReleases: number;
  leaksReleased: number;
  routing?: {
    node: string;
    underlay: { link: string; address: string }[];
    underlayMtu: number;
    devices: object[];
    pools: { name: string; cidr: string; encapsulation: string; overlay: string; mtu: number; natOutgoing: boolean }[];
    blocks: string[];
    peers: { name: string; underlay: string[]; blocks: { cidr: string; path: object }[]; lastChange: number; missing: boolean }[];
    problems: { subject: string; reason: string }[];
    storeAway?: { since: number; reason: string };
    lastResync?: number;
  };
}`,
  parameters: {
    flags: CONFIG_FLAGS,
    positional: {
      kind: 'tuple',
      parameters: [
        { placeholder: Object.keys(ACTIONS).join('|'), parse: String, brief: 'what to do' },
        { placeholder: 'name', parse: String, brief: 'rm: which node', optional: true },
      ],
    },
  },
  async run(cli, flags, name, node) {
    const action = ACTIONS[name];
    if (action !== undefined) return await action(cli, flags, node);
    const meant = closest(name, Object.keys(ACTIONS));
    throw new CommandError(EXIT.USAGE, `there is nothing like "node ${name}"`, {
      hint:
        meant === undefined ? `one of ${Object.keys(ACTIONS).join(', ')}` : `did you mean "node ${meant}"?`,
    });
  },
});

async function ls(cli: Cli, flags: ConfigFlags): Promise<undefined> {
  await using store = await reachStore(ownConfig(cli, flags));
  const nodes = await nodesOf(store);
  emit(
    cli,
    flags,
    () => nodes,
    (styled) => nodesText(nodes, cli.now(), styled),
  );
}

async function status(cli: Cli, flags: ConfigFlags): Promise<number> {
  const { node } = await askStatus(agentPlace('socket', cli.env));
  if (node === null) {
    throw new CommandError(EXIT.FAILED, 'the agent that serves here is part of no cluster', {
      hint: '`heddle up` starts one that is',
    });
  }
  emit(
    cli,
    flags,
    () => node,
    (styled) => nodeStatusText(node, cli.now(), styled),
  );
  const isWell = node.ready && (node.routing?.problems.length ?? 0) === 0;
  return isWell ? EXIT.OK : EXIT.FAILED;
}

async function rm(cli: Cli, flags: ConfigFlags, name: string | undefined): Promise<undefined> {
  if (name === undefined) throw new CommandError(EXIT.USAGE, 'node rm: say which node');
  const config = ownConfig(cli, flags);
  await using store = await reachStore(config);
  await removeGoneNode({ store, node: config.name, labels: config.labels, now: cli.now }, name);
}
