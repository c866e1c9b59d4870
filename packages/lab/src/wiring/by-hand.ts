/**
 * Pods wired with plugins that know of one node only, and a route for each node's pods set by hand on all others: what a
 * cluster network has to be as good as.
 */
import { writeFileSync } from 'node:fs';
import type { Prefix } from '@heddle/netaddr';
import { openSession } from '@heddle/netlink';
import { makeDirectory } from '@heddle/sys';
import { LabError } from '../lab-error.ts';
import type { HostPlan, NodePlan } from '../plan.ts';
import { UPLINK } from '../underlay/underlay.ts';
import type { Site, Wiring } from './wiring.ts';

const NETWORK = 'by-hand';

/** See the file's comment. */
export function wiringByHand({ plan, underlay, program }: Site): Wiring {
  return {
    network: NETWORK,
    async setUp(node, host) {
      await host.must([...program, 'install', '--no-network']);
      const mtu = Math.min(...plan.segments.map((segment) => segment.mtu));
      host.within(() => {
        makeDirectory('/etc/cni/net.d', 0o755);
        writeFileSync(`/etc/cni/net.d/10-${NETWORK}.conflist`, conflist(node, mtu));
      });
    },
    async finish(hosts) {
      for (const node of plan.nodes) {
        for (const range of node.podRanges) {
          const gateway = gatewayFor(node, range);
          await underlay.route(range, gateway, node.segment);
          for (const other of plan.nodes) {
            // To other segments goes what the router knows of.
            if (other === node || other.segment !== node.segment) continue;
            const host = hosts.get(other.name);
            if (host === undefined) continue;
            using session = openSession({ netns: host.netns });
            await session.routes.add({ dst: range, gateway: gateway.addr, link: UPLINK });
          }
        }
      }
    },
  };
}

function conflist({ podRanges }: NodePlan, mtu: number): string {
  const routes = podRanges.map(({ family }) => ({ dst: family === 4 ? '0.0.0.0/0' : '::/0' }));
  const ranges = podRanges.map((range) => [{ subnet: `${range}` }]);
  const ptp = { type: 'ptp', mtu, ipam: { type: 'host-local', ranges, routes } };
  return `${JSON.stringify({ cniVersion: '1.1.0', name: NETWORK, plugins: [ptp] }, null, 2)}\n`;
}

function gatewayFor({ name, addresses }: HostPlan, range: Prefix): Prefix {
  const gateway = addresses.find(({ family }) => family === range.family);
  if (gateway !== undefined) return gateway;
  throw new LabError(
    'LAB_INVALID',
    `node ${name}: pods of IPv${range.family} cannot be routed by hand over a network without IPv${range.family}`,
  );
}
