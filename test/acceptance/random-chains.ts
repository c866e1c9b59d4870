/**
 * Random chains of plugins, some failing at a random step: what they leave must be what was there before.
 */
import assert from 'node:assert/strict';
import { PLUGINS } from '@heddle/plugins';
import { type Container, DhcpLink, PluginLab, Sabotage, type TestNetns } from '@heddle/plugins/testing';
import { Choices } from '../support/choices.ts';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { type Chain, RARE, randomChain } from './random-chain.ts';

/** Which links the kernel at hand can make: those of any kernel, or also those that ours may lack. */
export type LinkKinds = 'common' | 'rare';

/** What became of the chains. */
export interface Outcome {
  /** What was left, in words; empty when nothing was. */
  readonly leaks: readonly string[];
  /** The plugins of these kinds that no chain had, delegates included. */
  readonly untested: readonly string[];
}

/**
 * Attaches and detaches a pod with each of `count` random chains, half of them with a failure in between. Every
 * fourth gets its address from a DHCP server, by a daemon.
 *
 * @param tell is told of each chain
 */
export async function leaksOfRandomChains(
  { count, seed, kinds }: { readonly count: number; readonly seed: number; readonly kinds: LinkKinds },
  tell: (chain: string) => void,
): Promise<Outcome> {
  const choices = new Choices(seed);
  const leaks: string[] = [];
  const tested = new Set<string>();
  for (let round = 0; round < count; round++) {
    await using scene = new AsyncDisposableStack();
    const lab = scene.use(new PluginLab([...PLUGINS.values()]));
    setUp(lab.host);
    // Numbered by themselves, so that each kind of round deals all of its main plugins.
    const isDhcp = round % 4 === 3;
    const turn = isDhcp ? Math.floor(round / 4) : round - Math.floor(round / 4);
    const dhcp = isDhcp ? scene.use(new DhcpLink(lab.host, lab.directory)) : undefined;
    await dhcp?.startDaemon();
    const ground = { directory: lab.directory, dhcp, isRare: kinds === 'rare' };
    const chain = randomChain(ground, choices, turn);
    for (const { type, delegate, ipam } of chain) {
      for (const each of [{ type }, delegate, ipam]) tested.add((each as { type?: string })?.type ?? '');
    }
    const what = `chain ${round}: ${chain.map(({ type }) => type).join(' ')}${isDhcp ? ' by dhcp' : ''}`;
    const warmUp = lab.container('warm');
    const warm = await attach(lab, chain, warmUp, { plugin: -1, request: 0 });
    await detach(lab, chain, warmUp, warm.result);
    await returned(dhcp, what);
    const before = [state(lab.host, lab), leftovers(primed(lab.container('fresh'), kinds))] as const;

    const pod = primed(lab.container('pod'), kinds);
    const fails = choices.chance(5);
    const fault = { plugin: fails ? choices.below(chain.length) : -1, request: 1 + choices.below(12) };
    const { result, failed = '' } = await attach(lab, chain, pod, fault);
    await detach(lab, chain, pod, result);
    try {
      await returned(dhcp, what + failed);
      assertUnchanged(before[0], state(lab.host, lab), `${what}${failed}: the host`);
      assertUnchanged(before[1], leftovers(pod), `${what}${failed}: the pod`);
    } catch (error) {
      leaks.push((error as Error).message);
    }
    tell(`${what}${failed}`);
  }
  const meant = [...PLUGINS.keys()].filter(
    (type) => (kinds === 'common') !== RARE.includes(type) && !OF_A_NODE.includes(type),
  );
  return { leaks, untested: meant.filter((type) => !tested.has(type)) };
}

/** They need a node of a cluster: `test/node/verbs.test.ts` has one, and lets each of their requests fail. */
const OF_A_NODE: readonly string[] = ['heddle', 'heddle-ipam'];

/** Waits until the server has its addresses back. */
async function returned(dhcp: DhcpLink | undefined, what: string): Promise<void> {
  try {
    await dhcp?.allReturned();
  } catch (cause) {
    throw new Error(`${what}: an address was not given back`, { cause });
  }
}

/** Where to fail: at a request of a plugin's ADD; nowhere for plugin -1. */
interface Fault {
  readonly plugin: number;
  readonly request: number;
}

/** A link for plugins that need a master or a device, and a route by which the host reaches the world. */
function setUp(host: TestNetns): void {
  host.run('ip link set lo up');
  host.run('ip link add hdmaster type veth peer name hdfar');
  host.run('ip address add 198.51.100.1/24 dev hdmaster');
  for (const link of ['hdmaster', 'hdfar']) host.run(`ip link set ${link} up`);
  host.run('ip route add default via 198.51.100.254');
}

/** What the kernel makes for good at the first time: the address of `lo`, and the rules of VRFs. */
function primed(container: Container, kinds: LinkKinds): Container {
  for (const state of ['up', 'down']) container.run(`ip link set lo ${state}`);
  if (kinds === 'common') return container;
  container.run('ip link add hdprime type vrf table 99');
  container.run('ip link delete hdprime');
  return container;
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
  return leftovers(host, [lab.directory]).filter((line) => !/dnsmasq\.leases: duid/.test(line));
}
