/** The door of the plugins: environment and stdin, as far as a kernel in memory lets them go. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { CNI_CODE, parseResult } from '@heddle/cni';
import { type PluginOutcome, serve, VALID_ATTACHMENTS } from '@heddle/cni/plugin';
import { PLUGINS } from '@heddle/plugins';
import { FakeLab } from '@heddle/plugins/testing';
import { bytesOf, jsonSeeds, type Target, textOf, valueUnless } from '../engine/target.ts';

/** A call as an input: what is left out is as in {@link ENV}; `stdin` is a value, or a text. */
interface Call {
  readonly plugin?: unknown;
  readonly env?: unknown;
  readonly stdin?: unknown;
}

const ENV = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c1', CNI_NETNS: '/run/netns/c1', CNI_IFNAME: 'eth0' };
const CODES = new Set<number>(Object.values(CNI_CODE));

const about = { cniVersion: '1.1.0', name: 'net' };
const ipam = {
  type: 'host-local',
  ranges: [
    [{ subnet: '10.1.2.0/24', rangeStart: '10.1.2.9', gateway: '10.1.2.1' }],
    [{ subnet: 'fd00:1::/64' }],
  ],
  routes: [{ dst: '0.0.0.0/0', gw: '10.1.2.1', mtu: 1400, priority: 5 }],
};
const fixed = {
  type: 'static',
  addresses: [{ address: '10.9.9.9/24', gateway: '10.9.9.1' }],
  routes: [{ dst: '10.0.0.0/8' }],
};
const prevResult = {
  cniVersion: '1.1.0',
  interfaces: [{ name: 'veth1' }, { name: 'eth0', mac: '02:00:00:00:00:01', sandbox: '/run/netns/c1' }],
  ips: [{ address: '10.1.2.9/24', gateway: '10.1.2.1', interface: 1 }],
};
const chained = { ...about, prevResult };

const CONFIGS: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[] = [
  { ...about, type: 'loopback' },
  {
    ...about,
    type: 'bridge',
    bridge: 'br0',
    isDefaultGateway: true,
    ipMasq: true,
    hairpinMode: true,
    mtu: 1400,
    ipam,
    runtimeConfig: { mac: '02:00:00:00:00:02' },
  },
  {
    ...about,
    type: 'bridge',
    bridge: 'br1',
    isGateway: true,
    forceAddress: true,
    promiscMode: true,
    vlan: 5,
    preserveDefaultVlan: false,
    macspoofchk: true,
    ipam: fixed,
  },
  {
    ...about,
    type: 'bridge',
    vlanTrunk: [{ minID: 2, maxID: 4 }, { id: 9 }],
    portIsolation: true,
    enabledad: true,
    ipam: {},
  },
  { ...about, type: 'ptp', ipMasq: true, mtu: 1400, ipam, dns: { nameservers: ['10.1.2.1'] } },
  { ...about, type: 'macvlan', master: 'lo', mode: 'bridge', linkInContainer: false, ipam: fixed },
  { ...about, type: 'ipvlan', master: 'lo', mode: 'l3', ipam: fixed },
  { ...about, type: 'vlan', master: 'lo', vlanId: 5, ipam: fixed },
  { ...about, type: 'dummy', ipam: fixed },
  { ...about, type: 'tap', multiQueue: true, owner: 0, group: 0, mac: '02:00:00:00:00:03', ipam: fixed },
  { ...about, type: 'host-device', device: 'lo', ipam: fixed },
  {
    ...about,
    type: 'host-local',
    ipam,
    args: { cni: { ips: ['10.1.2.77'] } },
    runtimeConfig: { ips: ['10.1.2.78/24'], ipRanges: [[{ subnet: '10.7.0.0/24' }]] },
  },
  {
    ...about,
    type: 'static',
    ipam: fixed,
    args: { cni: { ips: ['10.9.9.8/24'] } },
    runtimeConfig: { ips: ['10.9.9.7/24'] },
  },
  {
    ...chained,
    type: 'portmap',
    backend: 'nftables',
    snat: true,
    masqAll: false,
    markMasqBit: 13,
    conditionsV4: ['ip', 'saddr', '10.0.0.0/8'],
    runtimeConfig: {
      portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp', hostIP: '0.0.0.0' }],
    },
  },
  { ...chained, type: 'firewall', backend: 'nftables', ingressPolicy: 'same-bridge' },
  {
    ...chained,
    type: 'bandwidth',
    ingressRate: 1000000,
    ingressBurst: 80000,
    egressRate: 1000000,
    egressBurst: 80000,
    runtimeConfig: { bandwidth: { ingressRate: 123, ingressBurst: 456 } },
  },
  {
    ...chained,
    type: 'tuning',
    sysctl: { 'net.core.somaxconn': '500' },
    mac: '02:00:00:00:00:04',
    mtu: 1400,
    promisc: true,
    allmulti: true,
    txQLen: 10,
  },
  { ...chained, type: 'sbr', table: 100, addSourceHints: true },
  { ...chained, type: 'vrf', vrfname: 'red', table: 10 },
  { ...about, type: 'flannel', subnetFile: '/run/flannel/subnet.env', delegate: { isDefaultGateway: true } },
];

const seeds = CONFIGS.flatMap((stdin): readonly Call[] => [
  { plugin: stdin.type, env: {}, stdin },
  { plugin: stdin.type, env: { CNI_COMMAND: 'CHECK' }, stdin: { ...stdin, prevResult } },
  { plugin: stdin.type, env: { CNI_COMMAND: 'DEL', CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAME=web' }, stdin },
  {
    plugin: stdin.type,
    env: { CNI_COMMAND: 'GC' },
    stdin: { ...stdin, [VALID_ATTACHMENTS]: [{ containerID: 'c', ifname: 'eth0' }] },
  },
  { plugin: stdin.type, env: { CNI_COMMAND: 'STATUS' }, stdin },
  { plugin: stdin.type, env: { CNI_COMMAND: 'VERSION' }, stdin: { cniVersion: '1.0.0' } },
]);

const entry: Target = {
  name: 'plugin-entry',
  shape: { of: 'json' },
  seeds: jsonSeeds(...seeds),
  async run(input) {
    const call = valueUnless([SyntaxError], () => JSON.parse(textOf(input)) as Call | null);
    const plugin = PLUGINS.get(String(call?.plugin));
    if (plugin === undefined) return;
    const env = textsOf({ ...ENV, CNI_PATH: '/lab', ...Object(call?.env) });
    const stdin = typeof call?.stdin === 'string' ? call.stdin : JSON.stringify(call?.stdin ?? null);
    if (leavesSandbox(stdin) || waitsForServers(stdin)) return;
    forgetFiles();
    using lab = new FakeLab([...PLUGINS.values()]);
    lab.container('c1');
    const outcome = await serve(plugin, { env, readStdin: () => bytesOf(stdin) }, lab.surroundings);
    await lab.kernel.settle();
    check(env['CNI_COMMAND'] ?? '', outcome, textOf(input));
  },
};

/** An environment holds texts only. */
function textsOf(members: object): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).filter((each): each is [string, string] => typeof each[1] === 'string'),
  );
}

/** One JSON value and nothing else on stdout; every failure has a code that the specification or docs/errors.md knows. */
function check(command: string, { exitCode, stdout, stderr }: PluginOutcome, given: string): void {
  if (exitCode === 0) {
    if (command === 'ADD') parseResult(JSON.parse(stdout), { version: '1.1.0' });
    return;
  }
  const { code, msg } = JSON.parse(stdout) as { code: number; msg: string };
  assert.ok(CODES.has(code) && code !== CNI_CODE.INTERNAL, `code ${code}: ${msg}\n${stderr}`);
  const unclear = ['undefined', '[object'].filter((word) => msg.includes(word) && !given.includes(word));
  assert.ok(msg.length > 0 && unclear.length === 0, `unclear: ${msg}`);
}

const WORKING_DIRECTORY = '/run/heddle-fuzz/1/2/3/4/5/6';

/** Paths in configurations are written to: only where the sandbox has a layer of its own. */
function leavesSandbox(stdin: string): boolean {
  const leaves = (value: unknown): boolean => {
    if (typeof value === 'object' && value !== null) return Object.values(value).some(leaves);
    if (typeof value !== 'string' || !/[/.]/.test(value)) return false;
    return !/^\/(run|etc|opt|var\/lib)\//.test(`${resolve(WORKING_DIRECTORY, value)}/`);
  };
  // What is no JSON leads nowhere.
  return leaves(valueUnless([SyntaxError], () => JSON.parse(stdin) as unknown));
}

/** What the call before has left in files, so that one input does the same whatever came before it. */
function forgetFiles(): void {
  for (const directory of [WORKING_DIRECTORY, '/var/lib/cni']) {
    for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
  }
}

/** There is nobody whom DHCP could reach, and it waits for long. */
function waitsForServers(stdin: string): boolean {
  return /"dhcp"/i.test(stdin);
}

/** See the file's comment. Relative paths lead into the sandbox from here on. */
export function entryTargets(): readonly Target[] {
  for (const directory of [WORKING_DIRECTORY, '/var/lib/cni']) mkdirSync(directory, { recursive: true });
  // A thread has the directory of the process.
  if (isMainThread) process.chdir(WORKING_DIRECTORY);
  // In memory: each call has a directory of its own, and the disk would be the slowest part.
  process.env['TMPDIR'] = WORKING_DIRECTORY;
  return [entry];
}
