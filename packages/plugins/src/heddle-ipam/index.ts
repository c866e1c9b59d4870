/**
 * heddle-ipam: addresses of the cluster's pools for the plugins that make interfaces. The node's agent takes them from
 * blocks that the node has; the plugin only asks it to.
 *
 * An address stands alone, as /32 or /128: nobody else is on the link. Its gateway is 169.254.1.1 or fe80::1, for which
 * `ptp` has the host answer.
 */
import { definePlugin, type Plugin } from '@heddle/cni/plugin';
import { addressResult } from '../addressing/address-result.ts';
import { type AddressSource, ARG_KEYS, bySocket, requestOf } from '../cluster/config.ts';
import { GATEWAYS, giveStale, heldFindings, requireReadiness, takeAddresses } from '../cluster/verbs.ts';
import { reportDrift } from '../interface/findings.ts';
import { choiceOf, heddleIpamConfig, ipamOf } from './config.ts';

/**
 * The plugin, with another source of addresses than the node's socket.
 *
 * @example const plugin = heddleIpamFrom(() => node.addresses);
 */
export function heddleIpamFrom(source: AddressSource): Plugin {
  return definePlugin({
    type: 'heddle-ipam',
    kind: 'ipam',
    about: "gives out addresses of the cluster's pools, by the agent of the node",
    config: heddleIpamConfig,
    capabilities: ['ips'],
    argKeys: ARG_KEYS,
    async add(call) {
      const ipam = ipamOf(call.config);
      const request = requestOf(call, ipam, call.config);
      const { addresses } = await takeAddresses(call, source(ipam), request);
      const everywhere = addresses.map(({ address: { family } }) => ({
        dst: family === 4 ? '0.0.0.0/0' : '::/0',
      }));
      return addressResult({
        ips: addresses.map(({ address }) => ({
          address: `${address}`,
          gateway: `${GATEWAYS[address.family]}`,
        })),
        routes: ipam.routes ?? everywhere,
      });
    },
    async check(call) {
      reportDrift(await heldFindings(call, source(ipamOf(call.config)), call.prevResult));
    },
    async del(call) {
      const addresses = source(choiceOf(call.config));
      await call.teardown.step('give the addresses back', () => addresses.give(call.attachment));
    },
    async gc(call) {
      const addresses = source(choiceOf(call.config));
      await call.teardown.step('give stale addresses back', () => giveStale(call, addresses));
    },
    status: (call) => requireReadiness(call, source, ipamOf(call.config)),
  });
}

/** The plugin. */
export const heddleIpam = heddleIpamFrom(bySocket);
