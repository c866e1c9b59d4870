import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseListenAddress } from './metrics-listener.ts';

test('an address is a host and a port, a port alone, or a path', () => {
  const at = (port: number, host?: string) => ({
    port,
    reusePort: true,
    ...(host !== undefined && { host }),
  });
  assert.deepEqual(parseListenAddress('127.0.0.1:9464'), at(9464, '127.0.0.1'));
  assert.deepEqual(parseListenAddress('[::1]:9464'), at(9464, '::1'));
  assert.deepEqual(parseListenAddress('localhost:0'), at(0, 'localhost'));
  assert.deepEqual(parseListenAddress(':9464'), at(9464));
  assert.deepEqual(parseListenAddress('/run/m.sock'), { path: '/run/m.sock' });
  assert.deepEqual(parseListenAddress('unix:/run/m.sock'), { path: '/run/m.sock' });
  for (const wrong of ['', '9464', 'host', 'host:', 'host:port', '::1:9464', 'host:65536', 'unix:m.sock']) {
    assert.throws(() => parseListenAddress(wrong), { code: 'AGENT_SETTING' }, wrong);
  }
});
