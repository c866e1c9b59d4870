import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SysError } from '@heddle/sys';
import { pathOf } from './sysctl.ts';

for (const [name, path] of [
  ['net.ipv4.ip_forward', 'net/ipv4/ip_forward'],
  ['net/ipv4/ip_forward', 'net/ipv4/ip_forward'],
  ['net.ipv4.conf.eth0/100.forwarding', 'net/ipv4/conf/eth0.100/forwarding'],
  ['net/ipv4/conf/eth0.100/forwarding', 'net/ipv4/conf/eth0.100/forwarding'],
  ['hostname', 'hostname'],
] as const) {
  test(`the parameter ${name}`, () => {
    assert.equal(pathOf(name), `/proc/sys/${path}`);
  });
}

for (const name of ['net/../../etc/passwd', '../../etc/passwd', 'net.//.//.etc', '..']) {
  test(`no name leads elsewhere: ${name}`, () => {
    try {
      assert.doesNotMatch(pathOf(name), /\/\.\.(\/|$)/);
    } catch (error) {
      if (!SysError.is(error, 'ENOENT')) throw error;
    }
  });
}
