import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatCniArgs, loadArgs, parseCniArgs, parseCniArgsLeniently } from './args.ts';
import { UsageError } from './errors.ts';

test('pairs come in order, repeats and empty values included', () => {
  assert.deepEqual(parseCniArgs(''), []);
  assert.deepEqual(parseCniArgs('A=1;B=;A=2'), [
    ['A', '1'],
    ['B', ''],
    ['A', '2'],
  ]);
});

test('malformed pairs are named', () => {
  for (const text of ['A', 'A=1;', ';', 'A=b=c', 'A=1;;B=2']) {
    assert.throws(() => parseCniArgs(text), {
      name: 'UsageError',
      code: 'ARGS_INVALID',
      message: /^ARGS: invalid pair "/,
    });
  }
});

test('lenient reading takes what it can', () => {
  assert.deepEqual(parseCniArgsLeniently('A=1;;junk;B=x=y;=z;'), [
    ['A', '1'],
    ['B', 'x=y'],
  ]);
});

test('formatting and parsing are inverse', () => {
  const word = fc.string({ minLength: 1 }).filter((text) => !/[;=]/.test(text));
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word)), (args) => {
      assert.deepEqual(parseCniArgs(formatCniArgs(args)), args);
    }),
  );
});

test('known keys are read, in their letter case', () => {
  const text = 'IgnoreUnknown=1;MAC=02:00:00:00:00:01;K8S_POD_NAME=web';
  assert.deepEqual(loadArgs(text, ['MAC']), { MAC: '02:00:00:00:00:01' });
  assert.deepEqual(loadArgs('', ['MAC']), {});
  assert.deepEqual(loadArgs('IP=10.0.0.1;IP=10.0.0.2', ['IP', 'GATEWAY']), { IP: '10.0.0.2' });
});

test('unknown keys are refused unless IgnoreUnknown says otherwise, wherever it stands', () => {
  const unknown = { message: 'ARGS: unknown args ["mac=x" "FOO=bar"]', cniCode: 4 };
  assert.throws(() => loadArgs('mac=x;MAC=y;FOO=bar', ['MAC']), unknown);
  assert.throws(() => loadArgs('mac=x;FOO=bar;IgnoreUnknown=false', ['MAC']), unknown);
  for (const yes of ['1', 'true', 'TRUE', 'True']) {
    assert.deepEqual(loadArgs(`FOO=bar;IgnoreUnknown=${yes}`, ['MAC']), {});
  }
  assert.throws(() => loadArgs('IgnoreUnknown=yes', ['MAC']), UsageError);
  assert.throws(() => loadArgs('IgnoreUnknown=1;junk', ['MAC']), UsageError);
});
