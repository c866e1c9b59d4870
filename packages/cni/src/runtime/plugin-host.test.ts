import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemPluginHost } from './index.ts';

test('a delegate whose file cannot be looked at is an error of the file system', () => {
  const { inProcess } = systemPluginHost({ own: { executables: [process.execPath], plugins: new Map() } });
  assert.equal(inProcess?.('pool', process.execPath), undefined);
  assert.throws(() => inProcess?.('pool', '/nonexistent/pool'), {
    name: 'CniError',
    cniCode: 5,
    msg: /^tell whose plugin it is: .*\/nonexistent/,
  });
});
