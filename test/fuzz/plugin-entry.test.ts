import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_CODE } from '@heddle/cni';
import { serve } from '@heddle/cni/plugin';
import { PLUGINS } from '@heddle/plugins';
import { PluginLab } from '@heddle/plugins/testing';
import { Choices } from '../support/choices.ts';
import { mutate } from './mutate.ts';

const INPUTS = 10_000;
const SEED = Number(process.env['FUZZ_SEED'] ?? 20261130);
const CODES = new Set<number>(Object.values(CNI_CODE));

test(`${INPUTS} mutated configurations give a result or an error with a documented code (seed ${SEED})`, async () => {
  using lab = new PluginLab([...PLUGINS.values()]);
  const pod = lab.container('fuzz');
  const choices = new Choices(SEED);
  const documents = baseDocuments(lab.directory);
  let succeeded = 0;
  for (let round = 0; round < INPUTS; round++) {
    const document = choices.one(documents);
    const stdin = mutate(document, choices);
    const env = environment(choices, pod.path);
    const plugin = PLUGINS.get(document.type);
    assert.ok(plugin !== undefined);
    const outcome = await serve(plugin, { env, readStdin: () => Buffer.from(stdin) }, lab.surroundings);
    const what = `round ${round}: ${env['CNI_COMMAND']} of ${document.type}: ${stdin}\n${outcome.stdout}\n${outcome.stderr}`;
    if (outcome.exitCode === 0) {
      succeeded++;
      if (env['CNI_COMMAND'] === 'ADD') assert.equal(typeof JSON.parse(outcome.stdout), 'object', what);
      continue;
    }
    const { code, msg } = JSON.parse(outcome.stdout) as { code: number; msg: string };
    assert.ok(CODES.has(code) && code !== CNI_CODE.INTERNAL, what);
    assert.ok(msg.length > 0 && !msg.includes('undefined') && !msg.includes('[object'), what);
  }
  assert.ok(
    succeeded > INPUTS / 100,
    `only ${succeeded} inputs were valid: the mutations are too wild to test much`,
  );
});

type Document = Readonly<Record<string, unknown>> & { readonly type: string };

function baseDocuments(directory: string): [Document, ...Document[]] {
  const hostLocal = {
    type: 'host-local',
    dataDir: `${directory}/ipam`,
    ranges: [
      [{ subnet: '10.1.2.0/24', rangeStart: '10.1.2.9', gateway: '10.1.2.1' }],
      [{ subnet: 'fd00:1::/64' }],
    ],
    routes: [{ dst: '0.0.0.0/0', gw: '10.1.2.1', mtu: 1400, priority: 5 }],
  };
  const fixed = {
    type: 'static',
    addresses: [{ address: '10.9.9.9/24', gateway: '10.9.9.1' }, { address: 'fd00:9::9/64' }],
    routes: [{ dst: '10.0.0.0/8' }],
    dns: { nameservers: ['10.9.9.53'], search: ['example.org'] },
  };
  const prevResult = {
    cniVersion: '1.1.0',
    interfaces: [{ name: 'eth0', sandbox: '/x' }],
    ips: [
      { address: '10.1.2.9/24', interface: 0 },
      { address: 'fd00:1::9/64', interface: 0 },
    ],
  };
  const common = {
    cniVersion: '1.1.0',
    name: 'fuzz',
    'cni.dev/valid-attachments': [{ containerID: 'a', ifname: 'eth0' }],
  };
  const documents: Document[] = [
    { ...common, type: 'loopback' },
    {
      ...common,
      type: 'bridge',
      bridge: 'hdfuzz0',
      isDefaultGateway: true,
      ipMasq: true,
      hairpinMode: true,
      mtu: 1400,
      ipam: hostLocal,
      args: { cni: { mac: '02:00:00:00:00:01' } },
      runtimeConfig: { mac: '02:00:00:00:00:02' },
      dns: { nameservers: ['192.0.2.53'] },
    },
    {
      ...common,
      type: 'bridge',
      bridge: 'hdfuzz1',
      isGateway: true,
      forceAddress: true,
      promiscMode: true,
      portIsolation: true,
      enabledad: false,
      ipam: fixed,
    },
    {
      ...common,
      type: 'host-local',
      ipam: hostLocal,
      args: { cni: { ips: ['10.1.2.77'] } },
      runtimeConfig: { ips: ['10.1.2.78/24'], ipRanges: [[{ subnet: '10.7.0.0/24' }]] },
    },
    {
      ...common,
      type: 'static',
      ipam: fixed,
      args: { cni: { ips: ['10.9.9.8/24'] } },
      runtimeConfig: { ips: ['10.9.9.7/24'] },
    },
    {
      ...common,
      type: 'portmap',
      snat: true,
      masqAll: false,
      markMasqBit: 13,
      conditionsV4: ['ip', 'saddr', '10.0.0.0/8'],
      runtimeConfig: {
        portMappings: [
          { hostPort: 8080, containerPort: 80, protocol: 'tcp', hostIP: '0.0.0.0' },
          { HostPort: 53, ContainerPort: 5353, Protocol: 'UDP' },
        ],
      },
      prevResult,
    },
  ];
  const [first, ...others] = documents;
  assert.ok(first !== undefined);
  return [first, ...others];
}

function environment(choices: Choices, netns: string): Record<string, string> {
  const odd = choices.chance(1);
  return {
    CNI_COMMAND: choices.one([
      'ADD',
      'ADD',
      'DEL',
      'DEL',
      'CHECK',
      'GC',
      'STATUS',
      'VERSION',
      odd ? 'FROB' : 'DEL',
    ]),
    CNI_CONTAINERID: odd ? choices.one(['', 'a/b', '..', 'x'.repeat(300)]) : `c${choices.below(3)}`,
    CNI_NETNS: odd ? choices.one(['', '/nowhere', '/proc/self/ns/mnt', '/dev/null']) : netns,
    CNI_IFNAME: odd ? choices.one(['', 'lo', 'a b', 'x'.repeat(16), '../x']) : `eth${choices.below(2)}`,
    CNI_ARGS: choices.one([
      '',
      '',
      'IgnoreUnknown=1;K8S_POD_NAME=p',
      'IP=10.1.2.50',
      'MAC=zz',
      'A=B',
      ';',
      'IP=10.1.2.1;GATEWAY=x',
    ]),
    CNI_PATH: '/lab',
  };
}
