/**
 * The plugin `heddle`: joins a pod to the cluster's network by a veth pair that its node routes, without a bridge. The
 * pod has an address of each family, alone; the node's agent gives it, from blocks that other nodes have routes to.
 */
import { definePlugin, type Plugin } from '@heddle/cni/plugin';
import { type AddressSource, ARG_KEYS, bySocket } from '../cluster/config.ts';
import { requireReadiness } from '../cluster/verbs.ts';
import { add } from './add.ts';
import { check } from './check.ts';
import { heddleConfig } from './config.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';

/**
 * The plugin, with another source of addresses than the node's socket.
 *
 * @example const plugin = heddleFrom(() => node.addresses);
 */
export function heddleFrom(source: AddressSource): Plugin {
  return definePlugin({
    type: 'heddle',
    kind: 'main',
    about: "a veth pair that the node routes, with addresses of the cluster's pools",
    config: heddleConfig,
    capabilities: ['ips'],
    argKeys: ARG_KEYS,
    add: (call) => add(call, source(call.config)),
    check: (call) => check(call, source(call.config)),
    del: (call) => del(call, source(call.config)),
    gc: (call) => gc(call, source(call.config)),
    status: (call) => requireReadiness(call, source, call.config),
  });
}

/** The plugin. */
export const heddle = heddleFrom(bySocket);
