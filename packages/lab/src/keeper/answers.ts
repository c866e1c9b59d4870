/** What a keeper does when it is asked. */
import { Addr } from '@heddle/netaddr';
import type { Lab } from '../lab.ts';
import { LabError } from '../lab-error.ts';
import { transfer } from '../probe/exchange.ts';
import { flood } from '../probe/flood.ts';
import { probeMatrix } from '../probe/matrix.ts';
import { ping } from '../probe/ping.ts';
import type { FromTo, LabStatus, RequestName, Requests } from './protocol.ts';

type Answers = {
  readonly [N in RequestName]: (
    takes: Requests[N]['takes'],
  ) => Promise<Requests[N]['gives']> | Requests[N]['gives'];
};

/** @param env of the machines' programs */
export function answersOf(lab: Lab, env: Readonly<Record<string, string>>, end: () => void): Answers {
  return {
    status: () => statusOf(lab),
    matrix: (options) => probeMatrix(lab.places, options),
    ping: ({ size, fragments, timeout, ...way }) => {
      const { netns, address } = wayOf(lab, way);
      return ping(netns, address, { size, fragments, timeout });
    },
    flood: ({ milliseconds, interval, ...way }) => {
      const { netns, address } = wayOf(lab, way);
      return flood(netns, address, { interval, until: AbortSignal.timeout(milliseconds) });
    },
    transfer: ({ bytes, timeout = TRANSFER_SILENCE, from, to, family }) => {
      // Bytes go to who asks for them.
      const { netns, address } = wayOf(lab, { from: to, to: from, family });
      return transfer(netns, address, { bytes, timeout });
    },
    cut: async ({ node }) => {
      await lab.underlay.cut(node);
      return {};
    },
    heal: async ({ node }) => {
      await lab.underlay.heal(node);
      return {};
    },
    weather: async ({ node, ...weather }) => {
      await lab.underlay.weather(node, weather);
      return {};
    },
    run: ({ on, command, stdin }) => {
      const { host, netns } = lab.whereabouts(on);
      return host.run(command, { netns, ...(stdin !== undefined && { stdin }) });
    },
    addPod: async ({ node, pod }) => {
      const { addresses } = await lab.addPod(node, pod);
      return { addresses: addresses.map(String) };
    },
    removePod: async ({ pod }) => {
      await lab.removePod(pod);
      return {};
    },
    killEtcd: async ({ member }) => {
      await lab.etcd.kill(member);
      return {};
    },
    resumeEtcd: ({ member }) => {
      lab.etcd.resume(member);
      return {};
    },
    whereabouts: ({ name }) => {
      const { host, netns } = lab.whereabouts(name);
      return { mounts: host.mounts.number, netns: netns.number, env };
    },
    down: () => {
      setImmediate(end);
      return {};
    },
  };
}

const TRANSFER_SILENCE = 10_000;

function statusOf({ plan, underlay, places, etcd }: Lab): LabStatus {
  return {
    segments: plan.segments.map(({ name, mtu, gateways }) => ({ name, mtu, gateways: gateways.map(String) })),
    nodes: plan.nodes.map(({ name, segment, addresses }) => ({
      ...{ name, segment, addresses: addresses.map(String), cut: underlay.cutOff.includes(name) },
      pods: places
        .filter(({ kind, node }) => kind === 'pod' && node === name)
        .map((pod) => ({ name: pod.name, addresses: pod.addresses.map(String) })),
    })),
    etcd: etcd.names,
    wiring: plan.network.wiring,
  };
}

function wayOf(lab: Lab, { from, to, family }: FromTo) {
  const { netns } = lab.place(from);
  const given = Addr.tryParse(to);
  if (given !== undefined) return { netns, address: given };
  const { addresses } = lab.place(to);
  const address = addresses.find((each) => family === undefined || each.family === family);
  if (address !== undefined) return { netns, address };
  throw new LabError('LAB_MISSING', `${to} has no address of IPv${family}`);
}
