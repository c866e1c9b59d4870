/** The port of plugins over the node's own blocks: what the agent's plugins call, and what stands behind the socket. */
import { HeddleError } from '@heddle/errors';
import {
  type BlockAllocation,
  findHandle,
  type HandleRecord,
  listHandles,
  type Member,
  NodeBlocks,
  type Stored,
} from '@heddle/ipam/blocks';
import {
  type AddressRequest,
  type Attachment,
  attachmentHandle,
  attachmentOf,
  type ClusterAddresses,
  ClusterError,
  type Given,
  type HeldAddresses,
  type Readiness,
  type WaitingReleases,
} from '@heddle/ipam/cluster';
import { Prefix } from '@heddle/netaddr';
import { InTurn } from './in-turn.ts';
import { waitingTurn } from './waiting-turn.ts';

/** What the node's membership gives: who takes, and what packets of pods may measure. */
export interface Joined {
  readonly member: Member;
  /** The MTU for a pod with addresses from these pools; 0 where nobody knows. */
  readonly podMtu: (pools: readonly string[]) => number;
}

/** Why nothing can be taken now. */
export interface Unready {
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** What the addresses need. */
export interface NodeAddressesOptions {
  readonly node: string;
  readonly waiting: WaitingReleases;
  /** Told when something is to be given back later. */
  readonly onWaiting: () => void;
  /** Told when addresses were taken. */
  readonly onTaken?: (() => void) | undefined;
  /** Told of every attachment that was taken down, when its addresses were given back; what it throws, DEL fails with. */
  readonly onGiven?: ((attachment: Attachment) => Promise<void>) | undefined;
  /** What stands in the way, though the node has joined; and what is worth a word. */
  readonly condition: () => Promise<{
    readonly unready?: Unready | undefined;
    readonly warnings: readonly string[];
  }>;
  /** How long one taking may take, in milliseconds; 15,000 by default. */
  readonly patience?: number;
}

/** See the file's comment. */
export class NodeAddresses implements ClusterAddresses {
  readonly #options: NodeAddressesOptions;
  readonly #turns = new InTurn();
  #joined: Joined | undefined;
  #blocks: NodeBlocks | undefined;
  #unready: Unready = { reason: 'the node has not joined its cluster yet' };

  constructor(options: NodeAddressesOptions) {
    this.#options = options;
  }

  /** Serves from now on; first gives back what waits. */
  async open(joined: Joined): Promise<void> {
    this.#options.waiting.tidy();
    const blocks = new NodeBlocks(joined.member);
    await this.#giveWaiting(blocks);
    this.#joined = joined;
    this.#blocks = blocks;
  }

  /** Serves no more, and says why. */
  close(unready: Unready): void {
    this.#unready = unready;
    this.#joined = undefined;
    this.#blocks = undefined;
  }

  /** The node's blocks, as far as it remembers them. */
  get blocks(): ReturnType<NodeBlocks['remembered']> {
    return this.#blocks?.remembered() ?? [];
  }

  /** How far ahead of its need the node is, where it remembers that. */
  get reserves(): ReturnType<NodeBlocks['reserves']> {
    return this.#blocks?.reserves();
  }

  /** Claims blocks until the node is as far ahead as the cluster's settings say. @returns how far it is then */
  async keepAhead(): ReturnType<NodeBlocks['keepAhead']> {
    return (await this.#blocks?.keepAhead()) ?? [];
  }

  /** Gives back what waits, as far as it can be. @returns how many still wait */
  async giveWaiting(): Promise<number> {
    return this.#blocks === undefined
      ? this.#options.waiting.list().length
      : await this.#giveWaiting(this.#blocks);
  }

  async take(request: AddressRequest): Promise<Given> {
    const { families, addresses, pools, podNamespace, podName, sandbox } = request;
    const handle = attachmentHandle(request);
    return await this.#turns.take(handle, async () => {
      const { blocks, joined } = this.#open();
      await this.#voidWaiting(request);
      const { patience = 15_000 } = this.#options;
      const signal = AbortSignal.timeout(patience);
      const taking = blocks.take({
        handle,
        ...(families !== undefined && { families }),
        ...(addresses !== undefined && { addresses }),
        ...(pools !== undefined && { pools }),
        ...(podName !== undefined && { pod: `${podNamespace ?? ''}/${podName}` }),
        ...(sandbox !== undefined && { sandbox }),
        signal,
      });
      const allocations = await taking.catch((error: unknown) => {
        throw signal.aborted && error === signal.reason ? this.#late(patience) : error;
      });
      this.#options.onTaken?.();
      return {
        addresses: allocations.map(given),
        mtu: joined.podMtu(allocations.map(({ pool }) => pool)),
        node: this.#options.node,
      };
    });
  }

  async give(attachment: Attachment, at?: number): Promise<void> {
    const { waiting, onWaiting } = this.#options;
    const handle = attachmentHandle(attachment);
    await this.#turns.take(handle, async () => {
      try {
        await this.#open().blocks.give(handle, at === undefined ? {} : { writtenAt: at });
        await this.#options.onGiven?.(attachment);
        waiting.remove(attachment);
      } catch (error) {
        // What garbage collection finds it finds again.
        if (at !== undefined || !(error instanceof HeddleError)) throw error;
        waiting.add(attachment);
        onWaiting();
      }
    });
  }

  async held(attachment: Attachment): Promise<HeldAddresses | undefined> {
    const record = await findHandle(this.#open().joined.member, attachmentHandle(attachment));
    return record && heldAddresses(record);
  }

  async list(network: string): Promise<readonly HeldAddresses[]> {
    const records = await listHandles(this.#open().joined.member, `${network}/`);
    return records.flatMap((record) => heldAddresses(record) ?? []);
  }

  async status(room?: Pick<AddressRequest, 'families' | 'pools'>): Promise<Readiness> {
    const { node, condition } = this.#options;
    const { unready, warnings } = await condition();
    const why = this.#blocks === undefined ? this.#unready : (unready ?? (await this.#poolsMissing(room)));
    return why === undefined
      ? { ready: true, node, warnings: [...warnings] }
      : { ready: false, reason: why.reason, ...(why.hint !== undefined && { hint: why.hint }) };
  }

  async #poolsMissing(
    room: Pick<AddressRequest, 'families' | 'pools'> | undefined,
  ): Promise<Unready | undefined> {
    try {
      const { blocks } = this.#open();
      if (room !== undefined) await blocks.requireRoom(room);
      else await blocks.requirePools();
      return undefined;
    } catch (error) {
      if (!(error instanceof HeddleError)) throw error;
      return { reason: error.message, hint: error.hint };
    }
  }

  #open(): { readonly blocks: NodeBlocks; readonly joined: Joined } {
    if (this.#blocks !== undefined && this.#joined !== undefined) {
      return { blocks: this.#blocks, joined: this.#joined };
    }
    const { reason, hint } = this.#unready;
    throw new ClusterError(
      'CLUSTER_NODE_NOT_READY',
      `node ${this.#options.node} gives no addresses: ${reason}`,
      {
        ...(hint !== undefined && { hint }),
      },
    );
  }

  #late(patience: number): ClusterError {
    return new ClusterError(
      'CLUSTER_NODE_NOT_READY',
      `node ${this.#options.node} took no addresses in ${patience / 1000} s: the store is too slow`,
    );
  }

  /** An attachment is being added anew: what was asked of the one before came too late. */
  async #voidWaiting(attachment: Attachment): Promise<void> {
    const { waiting } = this.#options;
    if (!waiting.has(attachment)) return;
    using _turn = await waitingTurn(waiting.directory);
    waiting.remove(attachment);
  }

  async #giveWaiting(blocks: NodeBlocks): Promise<number> {
    const { waiting } = this.#options;
    let left = 0;
    for (const attachment of waiting.list()) {
      const handle = attachmentHandle(attachment);
      await this.#turns.take(handle, async () => {
        using _turn = await waitingTurn(waiting.directory);
        if (!waiting.has(attachment)) return;
        try {
          await blocks.give(handle);
          await this.#options.onGiven?.(attachment);
          waiting.remove(attachment);
        } catch (error) {
          if (!(error instanceof HeddleError)) throw error;
          left++;
        }
      });
    }
    return left;
  }
}

function given({ address, pool }: BlockAllocation) {
  return { address, pool };
}

function heldAddresses({ value, revision }: Stored<HandleRecord>): HeldAddresses | undefined {
  const attachment = attachmentOf(value.handle);
  if (attachment === undefined) return undefined;
  const addresses = value.addresses.map(({ addr, pool }) => ({ address: Prefix.host(addr), pool }));
  return { ...attachment, addresses, at: revision };
}
