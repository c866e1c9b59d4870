/** The agent as a node of a cluster. */
import { ClusterNode, machineId, type NodeEvent, type NodeStatus, readNodeConfig } from '@heddle/agent';
import { loadNetworkFile } from '@heddle/cni/runtime';
import { openSession } from '@heddle/netlink';
import { type AddressSource, bySocket } from '@heddle/plugins';
import type { Cli } from '../command.ts';
import { runtimeOf } from '../request/runtime.ts';
import { HEDDLE_VERSION } from '../version.ts';

/** What the agent has of the node. */
export interface RunningNode extends AsyncDisposable {
  /** Where the agent's own plugins take addresses from. */
  readonly addresses: AddressSource;
  status(): Promise<NodeStatus>;
}

/**
 * Begins to be the node that a file describes. It need not have joined yet: calls are told so.
 *
 * @throws {NodeError} NODE_CONFIG_INVALID, NODE_SOCKET
 */
export async function startNode(
  cli: Cli,
  file: string,
  onEvent: (event: NodeEvent) => void,
): Promise<RunningNode> {
  const config = readNodeConfig(file);
  await using stack = new AsyncDisposableStack();
  const session = stack.use(openSession({ mode: 'threaded' }));
  const node = stack.use(
    new ClusterNode({
      ...{ config, session, onEvent, instance: machineId(), version: HEDDLE_VERSION },
      detach: async (former, { containerID, ifName }) => {
        await runtimeOf(cli, {}).del(loadNetworkFile(former), { containerID, ifName });
      },
    }),
  );
  await node.start();
  const life = stack.move();
  return {
    addresses: (choice) =>
      choice.nodeSocket === '' || choice.nodeSocket === config.socket ? node.addresses : bySocket(choice),
    status: () => node.status(),
    [Symbol.asyncDispose]: () => life.disposeAsync(),
  };
}
