/** Addresses of the cluster as seen from another process than the node's agent. */
import { askNode } from './ask-node.ts';
import { ClusterError } from './cluster-error.ts';
import { NODE_SOCKET, WAITING_DIRECTORY } from './places.ts';
import type {
  AddressRequest,
  Attachment,
  ClusterAddresses,
  Given,
  HeldAddresses,
  Readiness,
} from './port.ts';
import { ownPlace, type Question } from './protocol.ts';
import { WaitingReleases } from './waiting.ts';

/** Where the node is. */
export interface NodePlaces {
  /** Default {@link NODE_SOCKET}. */
  readonly socket?: string | undefined;
  /** Default {@link WAITING_DIRECTORY}. */
  readonly waiting?: string | undefined;
  /** How long an answer is waited for, in milliseconds; 20,000 by default. */
  readonly patience?: number;
}

/**
 * Asks the agent of the node. While it is away nothing is taken; what is to be given back waits in a directory.
 *
 * @example await clusterClient().give({ network: 'pods', containerID: 'c1', ifName: 'eth0' });
 */
export function clusterClient(places: NodePlaces = {}): ClusterAddresses {
  return new ClusterClient(places);
}

class ClusterClient implements ClusterAddresses {
  readonly #socket: string;
  readonly #patience: number;
  readonly #waiting: WaitingReleases;

  constructor({ socket = NODE_SOCKET, waiting = WAITING_DIRECTORY, patience = 20_000 }: NodePlaces) {
    this.#socket = socket;
    this.#patience = patience;
    this.#waiting = new WaitingReleases(waiting);
  }

  take({ network, containerID, ifName, addresses, ...request }: AddressRequest): Promise<Given> {
    const { podNamespace, podName, sandbox } = request;
    return this.#ask({
      ...{ ask: 'take', from: ownPlace(), attachment: { network, containerID, ifName } },
      ...choiceOf(request),
      ...(addresses !== undefined && { addresses: addresses.map(String) }),
      ...(podNamespace !== undefined && { podNamespace }),
      ...(podName !== undefined && { podName }),
      ...(sandbox !== undefined && { sandbox }),
    });
  }

  async give({ network, containerID, ifName }: Attachment, at?: number): Promise<void> {
    const attachment = { network, containerID, ifName };
    try {
      await this.#ask({ ask: 'give', from: ownPlace(), attachment, ...(at !== undefined && { at }) });
    } catch (error) {
      // What is found anew by the next garbage collection need not wait.
      if (at !== undefined || !ClusterError.is(error, 'CLUSTER_NODE_ABSENT')) throw error;
      this.#waiting.add(attachment);
    }
  }

  async held({ network, containerID, ifName }: Attachment): Promise<HeldAddresses | undefined> {
    const attachment = { network, containerID, ifName };
    return (await this.#ask({ ask: 'held', from: ownPlace(), attachment })) ?? undefined;
  }

  async list(network: string): Promise<readonly HeldAddresses[]> {
    return await this.#ask({ ask: 'list', from: ownPlace(), network });
  }

  async status(room?: Pick<AddressRequest, 'families' | 'pools'>): Promise<Readiness> {
    try {
      return await this.#ask({
        ...{ ask: 'status', from: ownPlace() },
        ...(room !== undefined && { room: choiceOf(room) }),
      });
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      return { ready: false, reason: error.message, hint: error.hint };
    }
  }

  #ask<Q extends Question>(question: Q) {
    return askNode(this.#socket, question, this.#patience);
  }
}

function choiceOf({ families, pools }: Pick<AddressRequest, 'families' | 'pools'>) {
  return {
    ...(families !== undefined && { families: [...families] }),
    ...(pools !== undefined && { pools: [...pools] }),
  };
}
