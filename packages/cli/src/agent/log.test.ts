import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentEvent } from '@heddle/agent';
import { type LogOptions, logEvent, openLog } from './log.ts';

const call = {
  ...{ type: 'bridge', program: '/opt/cni/bin/heddle-shim', flags: 0, netnsKey: undefined, time: 0n },
  env: {
    ...{ CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c1', CNI_IFNAME: 'eth0', CNI_NETNS: '/run/netns/c1' },
    CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web',
  },
  stdin: new TextEncoder().encode('{"name":"podnet"}'),
};
const served = (stdout: string, exitCode: number): AgentEvent => ({
  ...{ kind: 'served', call, outcome: { exitCode, stdout, stderr: '' }, milliseconds: 2.34567, steps: [] },
});

function written(event: AgentEvent, options: Partial<LogOptions> = {}): readonly string[] {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  logEvent(openLog({ format: 'json', level: 'debug', now: () => 0, write, ...options }), event);
  return lines;
}

test('a call is a line with everything that tells it from others', () => {
  const [line = ''] = written(served('{}', 0));
  assert.deepEqual(JSON.parse(line), {
    ...{ time: '1970-01-01T00:00:00.000Z', level: 'info', event: 'served', command: 'ADD', plugin: 'bridge' },
    ...{ network: 'podnet', container: 'c1', interface: 'eth0', netns: '/run/netns/c1' },
    ...{ podNamespace: 'default', podName: 'web', ms: 2.346 },
  });
  assert.ok(line.endsWith('}\n'));
});

test('a failed call has its code and the words of its error', () => {
  const [line = ''] = written(served('{"code":11,"msg":"not now","details":"later"}', 1));
  assert.partialDeepStrictEqual(JSON.parse(line), { level: 'warn', code: 11, error: 'not now: later' });
  const [defect = ''] = written(served('no JSON', 1));
  assert.partialDeepStrictEqual(JSON.parse(defect), { code: 999, error: 'no JSON' });
});

test('text is for people: what has blanks is quoted, what is not known is left out', () => {
  const nothing = { ...call, env: { CNI_COMMAND: 'STATUS' }, stdin: new TextEncoder().encode('{') };
  const declined: AgentEvent = { kind: 'declined', call: nothing, reason: 'plugin', why: 'there is none' };
  assert.deepEqual(written(declined, { format: 'text' }), [
    '1970-01-01T00:00:00.000Z DEBUG declined command=STATUS plugin=bridge reason=plugin why="there is none"\n',
  ]);
});

test('nothing is written, and nothing put together, below the level that was asked for', () => {
  const unreadable = {
    ...call,
    get env(): never {
      throw new Error('read');
    },
  };
  const event = { kind: 'declined', call: unreadable, reason: 'plugin', why: '' } as const;
  assert.deepEqual(written(event, { level: 'info' }), []);
  assert.equal(
    written({ kind: 'trouble', where: 'client', what: 'x', error: undefined }, { level: 'error' }).length,
    0,
  );
  assert.equal(
    written({ kind: 'trouble', where: 'queue', what: 'x', error: 1 }, { level: 'error' }).length,
    1,
  );
});
