/** The plugin and its daemon against dnsmasq. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missing } from '../support/programs.ts';
import { DhcpLab } from './dhcp-lab.ts';

const skip = missing('dnsmasq');

test('a lease is got, checked and given back', { skip }, async () => {
  using lab = new DhcpLab();
  const server = lab.dnsmasq(undefined, [
    ...['--dhcp-range=192.168.1.5,192.168.1.5,2m', '--dhcp-option=3,192.168.1.1'],
    ...['--dhcp-option=6,192.168.1.53', '--domain=example.org'],
  ]);
  const daemon = await lab.daemon();
  const pod = lab.pod('c1');
  const result = await lab.add({ pod });
  console.log(daemon.output, server.output.length);
  assert.deepEqual(result, {});
});
