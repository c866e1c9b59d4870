/** What the shim, the agent and runtimes send each other, and what a runtime keeps or gets from plugins. */
import assert from 'node:assert/strict';
import { CniError, DecodeError } from '@heddle/cni';
import {
  decodeAnswer,
  encodeAnswer,
  HandoverError,
  handoverBytes,
  readChain,
  readHandover,
} from '@heddle/cni/runtime';
import { decodeEntry, encodeEntry } from '../../../packages/cni/src/runtime/cache-entry.ts';
import { chainBytes, readOutcomes } from '../../../packages/cni/src/runtime/chain-message.ts';
import { jsonDocuments } from '../../../packages/cni/src/runtime/json-documents.ts';
import { decodePluginResult } from '../../../packages/cni/src/runtime/plugin-result.ts';
import { bytesOf, jsonSeeds, type Target, textOf, textSeeds, valueUnless } from '../engine/target.ts';

const call = {
  type: 'bridge',
  program: '/opt/cni/bin/bridge',
  env: { CNI_COMMAND: 'ADD', CNI_IFNAME: 'eth0' },
  stdin: bytesOf('{"cniVersion":"1.1.0"}'),
  flags: 1,
  time: 1_700_000_000n,
};

const handover: Target = {
  name: 'handover',
  shape: { of: 'bytes' },
  seeds: () => [handoverBytes(call), handoverBytes({ flags: 2 })],
  run(input) {
    const read = valueUnless([HandoverError], () => readHandover(input));
    if (read === undefined) return;
    const { netnsKey: _, ...again } = readHandover(handoverBytes(read));
    const { netnsKey: __, ...expected } = read;
    assert.deepEqual(plain(again), plain(expected));
  },
};

const answer: Target = {
  name: 'handover-answer',
  shape: { of: 'bytes' },
  seeds: () => [
    encodeAnswer({ verdict: 'declined' }),
    encodeAnswer({ verdict: 'done', outcome: { exitCode: 1, stdout: '{"code":7}', stderr: 'x' } }),
  ],
  run(input) {
    const read = valueUnless([HandoverError], () => decodeAnswer(input));
    if (read !== undefined) assert.deepEqual(decodeAnswer(encodeAnswer(read)), read);
  },
};

const chain: Target = {
  name: 'chain',
  shape: { of: 'json' },
  seeds: jsonSeeds({
    resultVersion: '1.1.0',
    stopsAtFailure: true,
    plugins: [{ type: 'bridge', path: '/opt/cni/bin/bridge', stdin: '{}' }],
  }),
  run(input) {
    const read = valueUnless([HandoverError], () => readChain(input));
    if (read === undefined) return;
    const runs = read.plugins.map((each) => ({ ...each, env: {}, signal: undefined }));
    const bytes = chainBytes({ ...read, runs } as never);
    assert.deepEqual(readChain(bytes), read);
  },
};

/** See the file's comment. */
export const HANDOVER_TARGETS: readonly Target[] = [
  handover,
  answer,
  chain,
  {
    name: 'chain-outcomes',
    shape: { of: 'json' },
    seeds: jsonSeeds([{ exitCode: 0, stdout: '{}', stderr: '' }]),
    run: (input) => void valueUnless([HandoverError], () => readOutcomes(textOf(input))),
  },
  {
    name: 'cache-entry',
    shape: { of: 'json' },
    seeds: jsonSeeds({
      ...{
        kind: 'cniCacheV1',
        containerId: 'c',
        config: 'e30=',
        ifName: 'eth0',
        networkName: 'n',
        netns: '/n',
      },
      ...{ cniArgs: [['A', 'B']], capabilityArgs: { ips: ['10.0.0.1'] }, result: { cniVersion: '1.1.0' } },
    }),
    run(input) {
      const read = valueUnless([DecodeError], () => decodeEntry(textOf(input), 'read'));
      if (read !== undefined)
        assert.deepEqual(emptyLeftOut(decodeEntry(encodeEntry(read), 'read')), emptyLeftOut(read));
    },
  },
  {
    name: 'plugin-output',
    shape: { of: 'text' },
    seeds: textSeeds(
      'log line\n{"cniVersion":"1.1.0","ips":[{"address":"10.0.0.2/8"}]}',
      'x {"code": 7, "msg": "a\\"}"} {"b":{}}',
    ),
    run(input) {
      for (const document of jsonDocuments(textOf(input))) assert.equal(typeof document, 'object');
      valueUnless([CniError], () =>
        decodePluginResult(textOf(input), '1.1.0', { type: 'x', path: '/x', index: 0 } as never),
      );
    },
  },
];

/** Lists and objects without members are not written. */
function emptyLeftOut(entry: object): object {
  const says = (value: unknown) =>
    value instanceof Uint8Array || typeof value !== 'object' || Object.keys(Object(value)).length > 0;
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => says(value)));
}

/** Whether its bytes lie in a Buffer says nothing. */
function plain<T extends { readonly stdin: Uint8Array }>(call: T): object {
  return { ...call, stdin: Buffer.from(call.stdin) };
}
