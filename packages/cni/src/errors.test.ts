import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ErrorList, HeddleError } from '@heddle/errors';
import { CNI_CODE } from './codes.ts';
import {
  CniError,
  ConfigError,
  DecodeError,
  PluginError,
  toCniError,
  UnavailableError,
  UsageError,
} from './errors.ts';

class Refused extends HeddleError {
  override readonly code: string;
  constructor(code: string, message: string, options = {}) {
    super(message, options);
    this.code = code;
  }
}

test('an error shows as msg, or as msg and details', () => {
  assert.equal(new CniError(7, 'bad').message, 'bad');
  assert.equal(new CniError(7, 'bad', { cniDetails: 'very' }).message, 'bad; very');
  assert.equal(new CniError(7, 'bad', { cniDetails: '' }).message, 'bad');
});

test('the JSON form leaves out empty details and carries the hint', () => {
  assert.deepEqual(new CniError(7, 'bad').toJSON(), { code: 7, msg: 'bad' });
  const hinted = new CniError(11, 'pool empty', { cniDetails: '5 of 5 held', hint: 'run heddle ls' });
  assert.deepEqual(hinted.toJSON(), { code: 11, msg: 'pool empty', details: '5 of 5 held; run heddle ls' });
  assert.equal(JSON.stringify(new UsageError('no')), '{"code":4,"msg":"no"}');
});

test('each class has its number and identifier', () => {
  assert.equal(new UsageError('x').cniCode, 4);
  assert.equal(new UsageError('x', { code: 'ARGS_INVALID' }).code, 'ARGS_INVALID');
  assert.equal(new DecodeError('x').cniCode, 6);
  assert.equal(new ConfigError('x').cniCode, 7);
  assert.equal(new UnavailableError('TRY_AGAIN', 'x').cniCode, 11);
  assert.equal(new UnavailableError('NOT_READY', 'x').cniCode, 50);
  assert.equal(new UnavailableError('LIMITED_CONNECTIVITY', 'x').cniCode, 51);
  assert.equal(new CniError(8, 'x').code, 'INVALID_NETNS');
  assert.equal(new CniError(4711, 'x').code, 'CNI_ERROR');
});

test('a place in a file comes first; without a file the wording stays and the place is a detail', () => {
  const place = { line: 3, column: 9 };
  const inFile = new DecodeError('unexpected ,', {
    what: 'error parsing configuration',
    file: '/etc/a.conf',
    ...place,
  });
  assert.equal(inFile.message, '/etc/a.conf:3:9: error parsing configuration: unexpected ,');
  assert.equal(inFile.reason, 'unexpected ,');
  const inText = new DecodeError('unexpected ,', place);
  assert.equal(inText.msg, 'unexpected ,');
  assert.equal(inText.cniDetails, 'line 3, column 9');
  const config = new ConfigError('mtu: too big', {
    pointer: '/mtu',
    file: 'a.conf',
    ...place,
    expected: 'a',
    received: 'b',
  });
  assert.equal(config.message, 'a.conf:3:9: mtu: too big');
  assert.deepEqual(
    [config.pointer, config.line, config.column, config.expected, config.received],
    ['/mtu', 3, 9, 'a', 'b'],
  );
});

test("a plugin's answer is kept as received, whatever is missing", () => {
  const error = PluginError.fromJson('bridge', { code: 117, msg: 'no', details: 'because' });
  assert.deepEqual([error.plugin, error.cniCode, error.message], ['bridge', 117, 'no; because']);
  assert.deepEqual(PluginError.fromJson('x', {}).toJSON(), { code: 0, msg: '' });
  assert.equal(PluginError.fromJson('x', { Code: 7, Msg: 'upper' }).cniCode, 7);
  for (const answer of [null, [], 'text', 5, { code: '7' }, { code: 1.5 }, { msg: 5 }]) {
    assert.throws(() => PluginError.fromJson('x', answer), DecodeError);
  }
});

test('whatever was thrown becomes an error with a number', () => {
  const own = new CniError(8, 'netns');
  assert.equal(toCniError(own), own);
  assert.equal(toCniError(new Refused('NETLINK', 'add link: EPERM')).cniCode, CNI_CODE.NETLINK);
  assert.equal(toCniError(new Refused('POOL_EXHAUSTED', 'full')).cniCode, CNI_CODE.TRY_AGAIN);
  assert.equal(toCniError(new TypeError('x is undefined')).cniCode, CNI_CODE.INTERNAL);
  assert.equal(toCniError('text').msg, 'text');
  assert.equal(toCniError(undefined).cniCode, CNI_CODE.INTERNAL);
});

test('identifier and hint of the original survive', () => {
  const error = toCniError(new Refused('SYSCALL_FAILED', 'open /x: EACCES', { hint: 'run as root' }));
  assert.equal(error.code, 'SYSCALL_FAILED');
  assert.deepEqual(error.toJSON(), { code: 120, msg: 'open /x: EACCES', details: 'run as root' });
});

test('a wrapped error keeps the number of what it wraps', () => {
  const cause = PluginError.fromJson('host-local', { code: 11, msg: 'full' });
  const wrapped = toCniError(new Refused('STEP_FAILED', 'allocate: full', { cause }));
  assert.deepEqual([wrapped.cniCode, wrapped.msg], [11, 'allocate: full']);
  assert.equal(toCniError(new Error('outer', { cause })).cniCode, 11);
});

test('a list keeps the number that its members share', () => {
  const full = new UnavailableError('TRY_AGAIN', 'a');
  assert.equal(toCniError(new ErrorList('del', [full, new UnavailableError('TRY_AGAIN', 'b')])).cniCode, 11);
  assert.equal(toCniError(new ErrorList('del', [full, new UsageError('c')])).cniCode, CNI_CODE.SEVERAL);
});
