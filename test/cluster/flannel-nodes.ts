/** Nodes as Flannel leaves them: what its daemon writes and makes, of both families; and pods on them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RunningLab } from '@heddle/lab';
import { heddleProgram } from './cluster-lab.ts';

/** Runs a command on a machine of a lab, which must succeed. @returns what it printed */
export async function must(lab: RunningLab, on: string, ...command: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await lab.ask('run', { on, command });
  assert.equal(status, 0, `${on}: ${command.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** Runs `heddle` on a machine, which must succeed. @returns what it printed */
export function heddle(lab: RunningLab, on: string, ...args: readonly string[]): Promise<string> {
  return must(lab, on, ...heddleProgram(), ...args);
}

/** What a node is made of: its files, its links, and its routes; and how many rules it has. */
export const nodeState = (lab: RunningLab, node: string): Promise<string> =>
  must(
    lab,
    node,
    'sh',
    '-ec',
    `find /etc/cni /etc/heddle /opt/cni/bin ! -type d | sort
     ip -o link | sed 's/ state .*//'
     for family in -4 -6; do ip $family route show table all | sed '/proto kernel/d; s/ expires [^ ]*//'; done
     nft -j list ruleset | grep -o '"rule"' | wc -l`,
  );

/** The node's part of the cluster's addresses. */
export const subnetsOf = (number: number) => [`10.244.${number}.0/24`, `fd00:10:244:${number}::/64`] as const;

/** How Flannel's nodes reach each other: wrapped, or by plain routes. */
export type FlannelBackend = 'vxlan' | 'host-gw';

/** Makes nodes `node1` to the last of a lab what they are under Flannel; what wired them before is taken away. */
export async function stageFlannel(
  lab: RunningLab,
  count: number,
  backend: FlannelBackend = 'vxlan',
): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const addresses = await Promise.all(numbers.map((number) => addressesOf(lab, `node${number}`)));
  for (const number of numbers) {
    const peers = numbers.filter((each) => each !== number);
    const script = [
      // What the lab has wired by hand.
      'rm -f /etc/cni/net.d/* && mkdir -p /run/flannel',
      'ip route flush root 10.244.0.0/16; ip -6 route flush root fd00:10:244::/48',
      `printf '%s' '${subnetEnv(number, backend)}' > /run/flannel/subnet.env`,
      `printf '%s' '${CONFLIST}' > /etc/cni/net.d/10-flannel.conflist`,
      'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1',
      ...(backend === 'vxlan' ? vxlanScript : hostGwScript)(number, peers, addresses),
    ];
    await must(lab, `node${number}`, 'sh', '-ec', script.join('\n'));
  }
}

/** A pod with its addresses. */
export interface StagedPod {
  readonly node: string;
  readonly name: string;
  readonly addresses: readonly string[];
}

/** Attaches a pod to a network of a node. */
export async function addPod(
  lab: RunningLab,
  node: string,
  network: string,
  name: string,
): Promise<StagedPod> {
  await must(lab, node, 'ip', 'netns', 'add', name);
  const { ips } = JSON.parse(await heddle(lab, node, 'add', network, name)) as { ips: { address: string }[] };
  return { node, name, addresses: ips.map(({ address }) => address.split('/')[0] ?? '') };
}

/** Whether a pod has an answer of an address, in a minute. */
export async function reaches(lab: RunningLab, from: StagedPod, address: string): Promise<boolean> {
  const command = ['ip', 'netns', 'exec', from.name, 'ping', '-q', '-c1', '-w60', address];
  return (await lab.ask('run', { on: from.node, command })).status === 0;
}

/** Packets that a pod sends all the while. */
export interface Stream {
  readonly what: string;
  /** Ends it. @returns how many were sent, and how many answered */
  end(): Promise<{ readonly sent: number; readonly answered: number }>;
}

/** Begins to send one packet a tenth of a second. */
export async function stream(lab: RunningLab, from: StagedPod, address: string): Promise<Stream> {
  const command = ['ip', 'netns', 'exec', from.name, 'ping', '-i', '0.1', '-q', address];
  const child = await lab.spawn(from.node, command, { env: process.env, stdio: 'pipe' });
  let said = '';
  for (const pipe of [child.stdout, child.stderr]) {
    pipe?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = once(child, 'close');
  return {
    what: `${from.name} to ${address}`,
    async end() {
      child.kill('SIGINT');
      await ended;
      const [, sent, answered] = /(\d+) packets transmitted, (\d+) received/.exec(said) ?? [];
      assert.ok(sent !== undefined, said);
      return { sent: Number(sent), answered: Number(answered) };
    },
  };
}

const FAMILIES = [
  {
    ...{ device: 'flannel.1', mtu: 1450, option: '-4', host: '/32', all: '/24' },
    network: (number: number) => `10.244.${number}.0`,
  },
  {
    ...{ device: 'flannel-v6.1', mtu: 1430, option: '-6', host: '/128', all: '/64' },
    network: (number: number) => `fd00:10:244:${number}::`,
  },
] as const;

type BackendScript = (
  number: number,
  peers: readonly number[],
  addresses: readonly (readonly string[])[],
) => readonly string[];

const vxlanScript: BackendScript = (number, peers, addresses) =>
  FAMILIES.flatMap(({ device, option, mtu, network, host, all }, at) => [
    `ip link add ${device} address ${macOf(number)} type vxlan id 1 local ${addresses[number - 1]?.[at]} dev eth0 dstport 8472 nolearning`,
    `ip ${option} address add ${network(number)}${host} dev ${device}`,
    `ip link set ${device} mtu ${mtu} up`,
    ...peers.flatMap((peer) => [
      `ip ${option} route add ${network(peer)}${all} via ${network(peer)} dev ${device} onlink`,
      `ip ${option} neigh replace ${network(peer)} lladdr ${macOf(peer)} dev ${device} nud permanent`,
      `bridge fdb replace ${macOf(peer)} dev ${device} dst ${addresses[peer - 1]?.[at]}`,
    ]),
  ]);

const hostGwScript: BackendScript = (_, peers, addresses) =>
  FAMILIES.flatMap(({ option, network, all }, at) =>
    peers.map(
      (peer) => `ip ${option} route add ${network(peer)}${all} via ${addresses[peer - 1]?.[at]} dev eth0`,
    ),
  );

const CONFLIST = JSON.stringify({
  ...{ name: 'cbr0', cniVersion: '1.0.0' },
  plugins: [
    { type: 'flannel', delegate: { hairpinMode: true, isDefaultGateway: true } },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
});

function subnetEnv(number: number, backend: FlannelBackend): string {
  return [
    'FLANNEL_NETWORK=10.244.0.0/16',
    `FLANNEL_SUBNET=10.244.${number}.1/24`,
    'FLANNEL_IPV6_NETWORK=fd00:10:244::/48',
    `FLANNEL_IPV6_SUBNET=fd00:10:244:${number}::1/64`,
    `FLANNEL_MTU=${backend === 'vxlan' ? 1430 : 1500}`,
    'FLANNEL_IPMASQ=true\n',
  ].join('\n');
}

const macOf = (number: number) => `5a:00:00:00:00:0${number}`;

async function addressesOf(lab: RunningLab, node: string): Promise<readonly string[]> {
  const found = await must(lab, node, 'ip', '-j', 'address', 'show', 'dev', 'eth0', 'scope', 'global');
  const [{ addr_info: infos }] = JSON.parse(found) as [{ addr_info: { family: string; local: string }[] }];
  return ['inet', 'inet6'].map((name) => infos.find(({ family }) => family === name)?.local ?? '');
}
