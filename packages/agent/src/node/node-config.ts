/** The configuration of a node: which cluster it is part of, and as what. */
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { NODE_SOCKET, WAITING_DIRECTORY } from '@heddle/ipam/cluster';
import { Prefix } from '@heddle/netaddr';
import type { UnderlayOptions } from '@heddle/routing';
import * as v from 'valibot';
import { NodeError } from './node-error.ts';

/** Where it is unless told otherwise. */
export const NODE_CONFIG = '/etc/heddle/node.json';

const path = v.pipe(
  v.string(),
  v.check((text) => isAbsolute(text) && !text.includes('\0'), 'expected an absolute path'),
);

const linkName = v.pipe(v.string(), v.regex(/^[^\s/]{1,15}$/, 'expected the name of a link'));

const subnet = v.pipe(
  v.string(),
  v.check((text) => Prefix.tryParse(text)?.hasHostBits === false, 'expected a subnet, such as 10.244.1.0/24'),
);

const schema = v.strictObject({
  /** Which no other node of the cluster has: a DNS name. */
  name: v.pipe(
    v.string(),
    v.maxLength(253),
    v.regex(
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
      'expected a DNS name in lower case',
    ),
  ),
  /** `sqlite:///var/lib/heddle/store.db`, or `etcd://host:2379,host2:2379`. */
  store: v.string(),
  /** Files in PEM, for etcd over TLS. */
  tls: v.exactOptional(
    v.strictObject({
      ca: v.exactOptional(path),
      cert: v.exactOptional(path),
      key: v.exactOptional(path),
    }),
  ),
  user: v.exactOptional(v.string()),
  password: v.exactOptional(v.string()),
  /** What pools select nodes by. */
  labels: v.optional(v.record(v.string(), v.string()), {}),
  /** The link of the addresses between nodes; by default the one of the default route. */
  interface: v.exactOptional(linkName),
  /** The families of the addresses between nodes; by default those that the link has. */
  families: v.exactOptional(v.pipe(v.array(v.picklist([4, 6])), v.minLength(1), v.maxLength(2))),
  /** Subnets whose blocks are this node's from the start. */
  subnets: v.optional(v.array(subnet), []),
  /** The network that this node had before, for as long as pods are on it. */
  former: v.exactOptional(
    v.strictObject({
      /** Its configuration, which runtimes see no more. */
      config: path,
      /** The directory of host-local's reservations. */
      reservations: path,
      /** The bridge that its pods are on; none where the host has a route to each. */
      bridge: v.exactOptional(linkName),
      /** The device of its overlay. */
      overlays: v.optional(v.array(linkName), []),
    }),
  ),
  /** What tells this machine from another of the same name; by default its machine-id(5). */
  instance: v.exactOptional(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
  /** Where plugins ask for addresses. */
  socket: v.optional(path, NODE_SOCKET),
  /** Where addresses wait to be given back. */
  waiting: v.optional(path, WAITING_DIRECTORY),
});

/** The network that a node had before it was one of Heddle's; see the configuration's `former`. */
export type FormerNetworkConfig = NonNullable<v.InferOutput<typeof schema>['former']>;

/** A node's configuration. */
export type NodeConfig = v.InferOutput<typeof schema>;
/** The same as it is written, without what is the default. */
export type WrittenNodeConfig = v.InferInput<typeof schema>;

/** Where the addresses between nodes are looked for, as a configuration says. */
export function underlayOptions({
  interface: link,
  families,
}: Pick<NodeConfig, 'interface' | 'families'>): UnderlayOptions {
  return {
    ...(link !== undefined && { interface: link }),
    ...(families !== undefined && { families }),
  };
}

/**
 * Checks a configuration and fills in what it leaves out.
 *
 * @param where what messages call it
 * @throws {NodeError} NODE_CONFIG_INVALID
 * @example parseNodeConfig({ name: 'n1', store: 'sqlite:///var/lib/heddle/store.db' }, 'the default').labels // {}
 */
export function parseNodeConfig(value: unknown, where: string): NodeConfig {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const place = v.getDotPath(issue);
  throw new NodeError(
    'NODE_CONFIG_INVALID',
    `${where}: ${issue.message}${place === null ? '' : `; at ${place}`}`,
  );
}

/** Reads a configuration from its file. @throws {NodeError} NODE_CONFIG_INVALID */
export function readNodeConfig(file: string): NodeConfig {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new NodeError('NODE_CONFIG_INVALID', `read ${file}: ${why}`, {
      cause,
      hint: '`heddle up` writes one',
    });
  }
  return parseNodeConfig(value, file);
}
