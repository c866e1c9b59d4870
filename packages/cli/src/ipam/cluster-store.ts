/** The store of a cluster's addresses, and this node in it, as the command line names them. */
import { existsSync } from 'node:fs';
import { NODE_CONFIG, type NodeConfig, openStore, readNodeConfig } from '@heddle/agent';
import { HeddleError } from '@heddle/errors';
import type { Member } from '@heddle/ipam/blocks';
import type { Store } from '@heddle/store';

/** The flags that name a store. */
export interface StoreFlags {
  readonly node?: string;
  readonly store?: string;
}

/** What the flags come to. */
export interface ClusterStore extends AsyncDisposable {
  readonly store: Store;
  /** The node that this machine is, where its configuration was read. */
  readonly name: string | undefined;
  /** @throws {HeddleError} when it is not known which node this is */
  member(now: () => number): Member;
}

/** The flags of every action. */
export const STORE_FLAGS = {
  node: {
    kind: 'parsed',
    parse: String,
    brief: `the configuration of this node (default: ${NODE_CONFIG})`,
    placeholder: 'file',
    optional: true,
  },
  store: {
    kind: 'parsed',
    parse: String,
    brief: 'the URL of the store, in place of that of the configuration',
    placeholder: 'url',
    optional: true,
  },
} as const;

/** Opens the store. @throws {NodeError} NODE_CONFIG_INVALID @throws {StoreError} as the store does */
export async function openClusterStore({ node, store: url }: StoreFlags): Promise<ClusterStore> {
  const config = configOf(node, url);
  const store = await openStore({ ...config, store: url ?? config?.store ?? '' });
  const name = config?.name;
  return {
    ...{ store, name },
    member(now) {
      if (name !== undefined) return { store, node: name, now };
      throw new UnknownNodeError('which node this is, is not known', {
        hint: 'name its configuration by --node',
      });
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** A machine that is no node of a cluster can look at the store of one. */
function configOf(file: string | undefined, url: string | undefined): NodeConfig | undefined {
  if (file === undefined && url !== undefined && !existsSync(NODE_CONFIG)) return undefined;
  return readNodeConfig(file ?? NODE_CONFIG);
}

class UnknownNodeError extends HeddleError {
  override readonly code = 'NODE_UNKNOWN';
}
