import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ConfigError, decodeConfig } from '@heddle/cni';
import { requireAllowed } from './allowlist.ts';
import { refuseDuplicates, settingsOf, tuningConfig } from './config.ts';
import { repeatedMembers } from './repeated-members.ts';
import { sysctlPath, sysctlsByPath } from './sysctl-path.ts';

const read = (config: object, macOfArgs?: string) =>
  settingsOf(decodeConfig(tuningConfig, config), macOfArgs);

describe('settings', () => {
  test('a hardware address comes from the configuration, CNI_ARGS, the runtime and args, the last wins', () => {
    const [one, two, three, four] = [
      '02:00:00:00:00:01',
      '02:00:00:00:00:02',
      '02:00:00:00:00:03',
      '02:00:00:00:00:04',
    ];
    assert.equal(read({ mac: one }).link.mac, one);
    assert.equal(read({ mac: one }, two).link.mac, two);
    assert.equal(read({ mac: one, runtimeConfig: { mac: three } }, two).link.mac, three);
    const all = { mac: one, runtimeConfig: { mac: three }, args: { cni: { mac: four } } };
    assert.equal(read(all, two).link.mac, four);
  });

  test('args go before the configuration, kernel parameters one by one', () => {
    const cni = {
      sysctl: { 'net.a': '2', 'net.c': '3' },
      mtu: 1454,
      promisc: true,
      allmulti: false,
      txQLen: 0,
    };
    const config = { sysctl: { 'net.a': '1', 'net.b': '1' }, mtu: 1000, allmulti: true, txQLen: 5 };
    const { sysctls, link } = read({ ...config, args: { cni } });
    assert.deepEqual(Object.fromEntries(sysctls), { 'net.a': '2', 'net.b': '1', 'net.c': '3' });
    assert.deepEqual(link, { mtu: 1454, promisc: true, allmulti: false, txQLen: 0 });
  });

  test('kernel parameters may come from args alone', () => {
    assert.deepEqual([...read({ args: { cni: { sysctl: { 'net.a': '1' } } } }).sysctls], [['net.a', '1']]);
  });

  test('no promiscuous mode and an MTU of 0 change nothing', () => {
    assert.deepEqual(read({ promisc: false, mtu: 0, mac: '' }).link, {});
  });
});

describe('names of kernel parameters', () => {
  for (const [key, ifName, path] of [
    ['net.ipv4.conf.IFNAME.arp_filter', 'net1.100', 'net/ipv4/conf/net1.100/arp_filter'],
    ['net/ipv4/conf/IFNAME/arp_filter', 'net1.100', 'net/ipv4/conf/net1.100/arp_filter'],
    ['net/ipv4/conf/eth0.5/forwarding', 'eth0', 'net/ipv4/conf/eth0.5/forwarding'],
    ['net.ipv4.conf/all/forwarding', 'eth0', 'net/ipv4/conf/all/forwarding'],
    ['/net/core/somaxconn', 'eth0', 'net/core/somaxconn'],
    ['net.ipv4.conf.IFNAME.arp_filter', 'e$&0', 'net/ipv4/conf/e$&0/arp_filter'],
  ] as const) {
    test(`${key} of ${ifName} (containernetworking/plugins#779)`, () => {
      assert.equal(sysctlPath(key, ifName), path);
    });
  }

  for (const key of [
    ...['kernel.hostname', 'net.ipv4.conf/../../kernel/hostname', 'net/../kernel/hostname', 'net/./core/x'],
    ...['net', '', 'net..core', 'network.core', '../net/core/somaxconn', 'net.core.'],
  ]) {
    test(`${JSON.stringify(key)} is refused (containernetworking/plugins#779)`, () => {
      assert.throws(() => sysctlPath(key, 'eth0'), ConfigError);
    });
  }

  test('no name leads out by that of the interface', () => {
    assert.throws(() => sysctlPath('net.ipv4.conf.IFNAME.arp_filter', '../../x'), /invalid character/);
  });

  test('two names of one parameter are refused (containernetworking/plugins#779)', () => {
    const both = new Map([
      ['net.ipv4.conf.IFNAME.arp_filter', '1'],
      ['net/ipv4/conf/eth0/arp_filter', '0'],
    ]);
    assert.throws(() => sysctlsByPath(both, 'eth0'), /duplicated/);
    assert.equal(sysctlsByPath(both, 'eth1').size, 2);
  });
});

describe('members that are there twice', () => {
  test('are found at their place only', () => {
    const text = '{"a":1,"a":2,"Sysctl":{"x":"{\\"y\\":","y":["y",{"y":1,"y":2}],"x":"2","z":{},"y":3}}';
    assert.deepEqual(repeatedMembers(text, ['sysctl']), ['x', 'y']);
    assert.deepEqual(repeatedMembers(text, []), ['a']);
    assert.deepEqual(repeatedMembers(text, ['sysctl', 'y']), []);
  });

  test('are refused in both places', () => {
    const twice = '"sysctl":{"net.a":"1","net.a":"1"}';
    for (const text of [`{${twice}}`, `{"args":{"cni":{${twice}}}}`]) {
      assert.throws(() => refuseDuplicates(new TextEncoder().encode(text)), /duplicated sysctl key "net\.a"/);
    }
    refuseDuplicates(new TextEncoder().encode(`{"other":{${twice}}}`));
  });
});

describe('the list of what is allowed', () => {
  test('one line must match anywhere in the name; blank lines do not count', () => {
    using directory = new Directory();
    const list = directory.write('^net\\.ipv4\\.conf\\.\n\n   \nsomaxconn\n');
    requireAllowed(['net.core.somaxconn', 'net.ipv4.conf.IFNAME.arp_filter'], list);
    assert.throws(() => requireAllowed(['net.ipv6.conf.all.forwarding'], list), {
      cniCode: 7,
      msg: /Sysctl net\.ipv6\.conf\.all\.forwarding is not allowed/,
    });
  });

  test('no list allows everything, an empty one nothing, one that is wrong nothing at all', () => {
    using directory = new Directory();
    requireAllowed(['net.a'], join(directory.path, 'absent'));
    assert.throws(() => requireAllowed(['net.a'], directory.write('')), /is not allowed/);
    assert.throws(
      () => requireAllowed(['net.a'], directory.write('net\n(')),
      /"\(" is no regular expression/,
    );
  });

  test('one that is a directory is not none, and is named', () => {
    using directory = new Directory();
    assert.throws(() => requireAllowed(['net.core.somaxconn'], directory.path), {
      cniCode: 5,
      message: `read the list of allowed sysctls: EISDIR: illegal operation on a directory, read '${directory.path}'`,
    });
  });

  test('one that cannot be read is not none; the closed directory is named (containerd/containerd#8020)', (t) => {
    if (process.getuid?.() !== 0) return t.skip('not root: no other user to be');
    using directory = new Directory();
    const closed = join(directory.path, 'cni');
    mkdirSync(join(closed, 'tuning'), { recursive: true });
    const list = join(closed, 'tuning', 'allowlist.conf');
    writeFileSync(list, '^net\\.core\\.somaxconn$');
    directory.close(closed);
    const user = process.geteuid?.() ?? 0;
    process.seteuid?.(1000);
    try {
      assert.throws(() => requireAllowed(['net.core.somaxconn'], list), {
        cniCode: 5,
        message: new RegExp(`directory ${closed} may not be entered: it lacks the x permission`),
      });
    } finally {
      process.seteuid?.(user);
    }
  });
});

class Directory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'heddle-tuning-'));

  constructor() {
    chmodSync(this.path, 0o755);
  }

  write(text: string): string {
    const file = join(this.path, 'allowlist.conf');
    writeFileSync(file, text);
    return file;
  }

  close(directory: string): void {
    chmodSync(directory, 0o700);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}
