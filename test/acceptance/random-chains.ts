/**
 * Random chains of plugins, some failing at a random step: what they leave must be what was there before.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLUGINS } from '@heddle/plugins';
import { type Container, type LabConfig, PluginLab, Sabotage, type TestNetns } from '@heddle/plugins/testing';
import { Choices } from '../support/choices.ts';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';

/** Which links the kernel at hand can make: those of any kernel, or also those that ours may lack. */
export type LinkKinds = 'common' | 'rare';

/**
 * Attaches and detaches a pod with each of `count` random chains, half of them with a failure in between.
 *
 * @param tell is told of each chain
 * @returns what was left, in words; empty when nothing was
 */
export async function leaksOfRandomChains(
  { count, seed, kinds }: { readonly count: number; readonly seed: number; readonly kinds: LinkKinds },
  tell: (chain: string) => void,
): Promise<readonly string[]> {
  const choices = new Choices(seed);
  const leaks: string[] = [];
  for (let round = 0; round < count; round++) {
    using lab = new PluginLab([...PLUGINS.values()]);
    setUp(lab.host);
    const chain = randomChain(lab, choices, kinds);
    const what = `chain ${round}: ${chain.map(({ type }) => type).join(' ')}`;
    const warmUp = lab.container('warm');
    const warm = await attach(lab, chain, warmUp, { plugin: -1, request: 0 });
    await detach(lab, chain, warmUp, warm.result);
    const before = [state(lab.host, lab), inside(lab.container('fresh'))] as const;

    const pod = lab.container('pod');
    const fails = choices.chance(5);
    const fault = { plugin: fails ? choices.below(chain.length) : -1, request: 1 + choices.below(12) };
    const { result, failed = '' } = await attach(lab, chain, pod, fault);
    await detach(lab, chain, pod, result);
    try {
      assertUnchanged(before[0], state(lab.host, lab), `${what}${failed}: the host`);
      assertUnchanged(before[1], inside(pod), `${what}${failed}: the pod`);
    } catch (error) {
      leaks.push((error as Error).message);
    }
    tell(`${what}${failed}`);
  }
  return leaks;
}

/** Where to fail: at a request of a plugin's ADD; nowhere for plugin -1. */
interface Fault {
  readonly plugin: number;
  readonly request: number;
}

type Chain = readonly (LabConfig & { readonly type: string })[];

/** A link for plugins that need a master or a device, and a route by which the host reaches the world. */
function setUp(host: TestNetns): void {
  host.run('ip link set lo up');
  host.run('ip link add hdmaster type veth peer name hdfar');
  host.run('ip address add 198.51.100.1/24 dev hdmaster');
  for (const link of ['hdmaster', 'hdfar']) host.run(`ip link set ${link} up`);
  host.run('ip route add default via 198.51.100.254');
}

function randomChain(lab: PluginLab, choices: Choices, kinds: LinkKinds): Chain {
  const families = choices.one([['10.70.0.0/24'], ['fd00:70::/64'], ['10.70.0.0/24', 'fd00:70::/64']]);
  const gateways = families.map((subnet) => subnet.replace(/(0|:)\/\d+$/, subnet.includes(':') ? ':1' : '1'));
  const routes = families.map((subnet) => ({ dst: subnet.includes(':') ? '::/0' : '0.0.0.0/0' }));
  const ipam = choices.one<object>([
    {
      type: 'host-local',
      dataDir: join(lab.directory, 'ipam'),
      ranges: families.map((subnet) => [{ subnet }]),
      routes,
    },
    {
      type: 'static',
      addresses: families.map((subnet, index) => ({
        address: subnet.replace(/0\/|:\//, subnet.includes(':') ? ':9/' : '9/'),
        gateway: gateways[index],
      })),
      routes,
    },
  ]);
  const bridge = { type: 'bridge', bridge: 'hdleak0', isGateway: true, ipMasq: true };
  const main = choices.one<LabConfig & { readonly type: string }>(
    kinds === 'rare'
      ? [
          { type: 'dummy', ipam },
          { type: 'vlan', master: 'hdmaster', vlanId: 7, ipam },
          { type: 'ipvlan', master: 'hdmaster', mode: choices.one(['l2', 'l3']), ipam },
          { ...bridge, vlan: 7, ipam },
        ]
      : [
          {
            type: 'bridge',
            bridge: 'hdleak0',
            isGateway: true,
            ipMasq: true,
            hairpinMode: true,
            macspoofchk: choices.chance(5),
            portIsolation: choices.chance(3),
            ipam,
          },
          {
            type: 'bridge',
            bridge: 'hdleak0',
            isDefaultGateway: true,
            ipMasq: true,
            ipMasqBackend: 'iptables',
            ipam,
          },
          { type: 'ptp', ipMasq: true, ipam },
          { type: 'macvlan', master: 'hdmaster', ipam },
          { type: 'tap', ipam },
          { type: 'host-device', device: 'hdfar', ipam },
          flannel(lab, bridge),
        ],
  );
  const ports = [
    { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
    { hostPort: 5353, containerPort: 53, protocol: 'udp' },
  ];
  const hasHostEnd = main.type === 'bridge' || main.type === 'ptp';
  const metas: (LabConfig & { readonly type: string })[] = [
    {
      type: 'portmap',
      backend: choices.one(['nftables', 'iptables']),
      runtimeConfig: { portMappings: ports },
    },
    {
      type: 'firewall',
      backend: choices.one(['iptables', 'nftables']),
      ingressPolicy: main.type === 'bridge' ? choices.one(['open', 'same-bridge', 'isolated']) : 'open',
    },
    {
      type: 'tuning',
      dataDir: join(lab.directory, 'tuning'),
      mtu: 1400,
      promisc: true,
      sysctl: { 'net.ipv4.conf.IFNAME.arp_filter': '1' },
    },
    { type: 'sbr' },
    ...(kinds === 'rare' ? [{ type: 'vrf', vrfname: 'hdvrf' }] : []),
    ...(hasHostEnd
      ? [
          {
            type: 'bandwidth',
            ingressRate: 1_000_000,
            ingressBurst: 400_000,
            egressRate: 1_000_000,
            egressBurst: 400_000,
          },
        ]
      : []),
  ];
  const chosen = metas.filter(() => choices.chance(5));
  return [main, ...(choices.chance(5) ? chosen : chosen.toReversed())];
}

/** flannel gets its subnet from a file, and hands everything to bridge. */
function flannel(lab: PluginLab, delegate: object): LabConfig & { readonly type: string } {
  const subnetFile = join(lab.directory, 'subnet.env');
  writeFileSync(
    subnetFile,
    'FLANNEL_NETWORK=10.70.0.0/16\nFLANNEL_SUBNET=10.70.9.1/24\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=false\n',
  );
  const dataDir = join(lab.directory, 'flannel');
  mkdirSync(dataDir);
  return {
    type: 'flannel',
    subnetFile,
    dataDir,
    delegate,
    ipam: { type: 'host-local', dataDir: join(lab.directory, 'ipam') },
  };
}

async function attach(
  lab: PluginLab,
  chain: Chain,
  container: Container,
  fault: Fault,
): Promise<{ result?: unknown; failed?: string }> {
  let prevResult: unknown;
  for (const [index, config] of chain.entries()) {
    const sabotage = new Sabotage(index === fault.plugin ? fault.request : 0);
    const request = {
      command: 'ADD',
      config,
      container,
      prevResult,
      wrap: sabotage.wrap.bind(sabotage),
    } as const;
    const { exitCode, stdout, stderr } = await lab.run(request);
    if (exitCode !== 0) {
      assert.equal(index, fault.plugin, `${config.type}: ${stdout}${stderr}`);
      return { failed: `, failed in ${config.type} at ${sabotage.failed}` };
    }
    prevResult = JSON.parse(stdout);
  }
  return { result: prevResult };
}

async function detach(
  lab: PluginLab,
  chain: Chain,
  container: Container,
  prevResult: unknown,
): Promise<void> {
  for (const config of chain.toReversed()) await lab.del({ config, container, prevResult });
}

function state(host: TestNetns, lab: PluginLab): readonly string[] {
  const settings = [
    'net.ipv4.ip_forward',
    'net.ipv6.conf.all.forwarding',
    'net.ipv4.conf.all.rp_filter',
    'net.ipv4.conf.hdmaster.promote_secondaries',
  ];
  return [
    ...leftovers(host, [lab.directory]).filter((line) => !/^\S+\/(lock|ipam\/|tuning\/)/.test(line)),
    ...settings.map((name) => `${name} = ${host.session.sysctl.read(name)}`),
  ];
}

function inside(pod: TestNetns): readonly string[] {
  return leftovers(pod).filter((line) => !line.includes(' lo') && !line.includes(' dev lo'));
}
