/** What runtimes, plugins and files say in the words of CNI. */
import assert from 'node:assert/strict';
import {
  CNI_VERSIONS,
  CniError,
  ConfigError,
  DecodeError,
  formatCniArgs,
  knownCommand,
  loadArgs,
  parseCniArgs,
  parseCniArgsLeniently,
  parseJson,
  parseNetworkList,
  parsePluginConfig,
  parsePrevResult,
  parseResult,
  readEnvironment,
  renderResult,
  stringifyResult,
  UsageError,
  unknownListKeys,
  upconvert,
} from '@heddle/cni';
import { ownerAlias, ownerComment, parseOwnerAlias, parseOwnerComment } from '@heddle/cni/plugin';
import { bytesOf, jsonSeeds, type Target, textOf, textSeeds, valueUnless } from '../engine/target.ts';

const plugin = {
  cniVersion: '1.1.0',
  name: 'net',
  type: 'bridge',
  capabilities: { portMappings: true, ips: false },
  ipam: { type: 'host-local', ranges: [[{ subnet: '10.1.0.0/16' }]] },
  dns: { nameservers: ['10.1.0.1'], domain: 'x', search: ['y'], options: ['z'] },
  prevResult: { cniVersion: '1.1.0', ips: [{ address: '10.1.0.2/16' }] },
  'cni.dev/valid-attachments': [{ containerID: 'c', ifname: 'eth0' }],
};
const list = { cniVersion: '1.0.0', cniVersions: ['0.4.0', '1.0.0'], name: 'net', disableCheck: true };
const results = [
  {
    cniVersion: '1.1.0',
    interfaces: [{ name: 'eth0', mac: '02:00:00:00:00:01', mtu: 1500, sandbox: '/n', pciID: 'p' }],
    ips: [
      { address: '10.1.0.2/16', gateway: '10.1.0.1', interface: 0 },
      { address: 'fd00::2/64', gateway: 'fd00::1' },
    ],
    routes: [{ dst: '0.0.0.0/0', gw: '10.1.0.1', mtu: 1400, advmss: 1300, priority: 1, table: 2, scope: 3 }],
    dns: { nameservers: ['10.1.0.1'], domain: 'x', search: ['y'], options: ['z'] },
  },
  {
    cniVersion: '0.4.0',
    interfaces: [{ name: 'eth0', mac: '02:00:00:00:00:01', sandbox: '/n' }],
    ips: [{ version: '4', address: '10.1.0.2/16', gateway: '10.1.0.1', interface: 0 }],
    routes: [{ dst: '0.0.0.0/0', gw: '10.1.0.1' }],
    dns: {},
  },
  {
    cniVersion: '0.2.0',
    ip4: { ip: '10.1.0.2/16', gateway: '10.1.0.1', routes: [{ dst: '0.0.0.0/0' }] },
    ip6: { ip: 'fd00::2/64', routes: [{ dst: '::/0', gw: 'fd00::1' }] },
    dns: { nameservers: ['10.1.0.1'] },
  },
];

const json: Target = {
  name: 'json',
  shape: { of: 'text' },
  seeds: textSeeds(
    '{"a":[1,-0.5e3,true,null,"\\u0041\\n"]}',
    '[9007199254740993, 12345678901234567890]',
    '{"a":1,}',
    '{"a" 1}',
    '[1 2]',
    '"',
  ),
  run(input) {
    const value = valueUnless([DecodeError], () => parseJson(input));
    const expected = valueUnless([SyntaxError], () => JSON.parse(textOf(input)) as unknown);
    // Whatever it takes, JSON.parse takes as well; and what has no long numbers is the same value.
    if (value === undefined) return;
    assert.notEqual(expected, undefined);
    if (!/\d{16}/.test(textOf(input))) assert.deepEqual(value, expected);
  },
};

const result: Target = {
  name: 'result',
  shape: { of: 'json' },
  seeds: jsonSeeds(...results),
  run(input) {
    const read = valueUnless([DecodeError], () => parseResult(parseJson(input), { version: '1.0.0' }));
    if (read === undefined) return;
    valueUnless([DecodeError], () => parsePrevResult(parseJson(input), '1.0.0'));
    for (const version of CNI_VERSIONS) {
      const text = valueUnless([CniError], (): string => stringifyResult(read, version));
      if (text === undefined) continue;
      // What is printed is read as the same again, and printed as the same.
      const again = parseResult(parseJson(text), { version });
      assert.equal(stringifyResult(again, version), text);
      assert.deepEqual(renderResult(again, version), renderResult(read, version));
    }
  },
};

const args: Target = {
  name: 'cni-args',
  shape: { of: 'text' },
  seeds: textSeeds(
    'IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;IP=10.1.2.3',
    'MAC=02:00:00:00:00:01',
    'IgnoreUnknown=no',
    'a=b=c;',
  ),
  run(input) {
    const text = textOf(input);
    const pairs = valueUnless([UsageError], () => parseCniArgs(text));
    if (pairs !== undefined) assert.equal(formatCniArgs(pairs), text);
    parseCniArgsLeniently(text);
    valueUnless([UsageError], () => loadArgs(text, ['IP', 'MAC', 'GATEWAY', 'K8S_POD_NAME']));
  },
};

const environment: Target = {
  name: 'environment',
  shape: { of: 'json' },
  seeds: jsonSeeds(
    {
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: 'c',
      CNI_NETNS: '/n',
      CNI_IFNAME: 'eth0',
      CNI_ARGS: 'A=B',
      CNI_PATH: '/opt/cni/bin::/x',
    },
    { CNI_COMMAND: 'GC', CNI_PATH: '/opt/cni/bin' },
    { CNI_COMMAND: 'VERSION' },
  ),
  run(input) {
    const value = valueUnless([SyntaxError], () => JSON.parse(textOf(input)) as unknown);
    const env = Object.fromEntries(Object.entries(Object(value)).map(([name, each]) => [name, String(each)]));
    const invocation = valueUnless([CniError], () => readEnvironment(env));
    if (invocation !== undefined) valueUnless([CniError], () => knownCommand(invocation.command));
  },
};

const owner: Target = {
  name: 'owner-tags',
  shape: { of: 'text' },
  seeds: () => {
    const attachment = { network: 'net', containerID: 'c1', ifName: 'eth0' };
    return [
      bytesOf(ownerComment(attachment)),
      bytesOf(ownerAlias(attachment)),
      bytesOf(ownerAlias(attachment, 'K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=1')),
    ];
  },
  run(input) {
    const text = textOf(input);
    parseOwnerComment(text);
    const found = parseOwnerAlias(text);
    if (found === undefined) return;
    const { network, containerID, ifName } = found;
    const again = parseOwnerAlias(ownerAlias({ network, containerID, ifName }));
    // Names that are too long for an alias give way to their tag.
    if (again !== undefined) assert.deepEqual(again, { network, containerID, ifName });
  },
};

/** See the file's comment. */
export const CONTRACT_TARGETS: readonly Target[] = [
  json,
  {
    name: 'network-list',
    shape: { of: 'json' },
    seeds: jsonSeeds(
      { ...list, plugins: [plugin, { type: 'portmap' }] },
      { ...list, loadOnlyInlinedPlugins: true },
    ),
    run(input) {
      const read = valueUnless([DecodeError, ConfigError], () =>
        parseNetworkList(input, { file: 'a.conflist' }),
      );
      if (read === undefined) return;
      const value = parseJson(input);
      unknownListKeys(value as never);
    },
  },
  {
    name: 'plugin-config',
    shape: { of: 'json' },
    seeds: jsonSeeds(plugin, { type: 'x' }),
    run(input) {
      const read = valueUnless([DecodeError, ConfigError], () =>
        parsePluginConfig(input, { file: 'a.conf' }),
      );
      if (read !== undefined) valueUnless([DecodeError, ConfigError], () => upconvert(read));
    },
  },
  result,
  args,
  environment,
  owner,
];
