/**
 * A site whose agent is a node of a cluster, the cluster's only one.
 *
 *   node --conditions=source bench/cluster-site.ts STORE      in the site: makes the store of that cluster
 */
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { askStatus, openStore } from '@heddle/agent';
import type { Contender, Site } from '@heddle/bench';
import { keepAhead, putPool, putSettings } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';

const NAME = 'bench';
const STORE = 'sqlite:///var/lib/heddle/store.db';
/** So many addresses are free at any time: no ADD ever waits for a block. */
const AHEAD = 2_000;

if (import.meta.main) await makeStore(process.argv[2] ?? STORE);

/**
 * The same contender, whose agent is the node. Before it starts there are a link to other nodes, the node's configuration,
 * and blocks that are the node's; it claims more before they are used up.
 */
export function withNode(contender: Contender): Contender {
  const { agent } = contender;
  if (agent === undefined) throw new Error(`${contender.name} has no agent`);
  const config = JSON.stringify({ name: NAME, store: STORE, interface: 'underlay' });
  const script = [
    'ip link add underlay type veth peer name beyond',
    'ip address add 192.0.2.1/24 dev underlay',
    'ip link set underlay up',
    'ip link set beyond up',
    `mkdir -p /var/lib/heddle && echo '${config}' > /run/node.json`,
    `${process.execPath} --conditions=source ${resolve('bench/cluster-site.ts')} ${STORE}`,
    'exec "$0" "$@" --node /run/node.json',
  ];
  return {
    ...contender,
    agent: { ...agent, program: '/bin/sh', args: ['-ec', script.join('\n'), agent.program, ...agent.args] },
  };
}

/** Until the node gives addresses. */
export async function nodeReady({ node }: Site): Promise<void> {
  const socket = join(node.root, 'run/heddle/agent.sock');
  while ((await askStatus(socket)).node?.ready !== true) await pause(50);
}

async function makeStore(url: string): Promise<void> {
  await using store = await openStore({ store: url });
  await putSettings(store, { mode: 'cluster-pool', ahead: AHEAD });
  await putPool(store, { name: 'pods', cidr: Prefix.parse('10.78.0.0/16'), natOutgoing: true });
  await keepAhead({ store, node: NAME, now: Date.now }, 4, { ahead: AHEAD });
}
