/** The table of connections is the whole machine's: only one of our own can have it filled up and its limit changed. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { findingsIn } from './printed.ts';

const LIMIT = '/proc/sys/net/netfilter/nf_conntrack_max';
/** Entries are to outlive a slow machine's look. */
const TIMEOUT = '/proc/sys/net/netfilter/nf_conntrack_udp_timeout';
const RULES = `
add table inet tracked
add chain inet tracked out { type filter hook output priority 0; }
add rule inet tracked out ct state new accept`;
const FLOWS = `
import socket
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); sink.bind(('127.0.0.1', 9999))
for n in range(int(open('${LIMIT}').read()) * 2):
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try: out.sendto(b'', ('127.0.0.1', 9999))
    except PermissionError: break`;

/** The limit; not where it is another namespace's. */
function limit(): string | undefined {
  execFileSync('nft', ['-f', '-'], { input: RULES });
  try {
    const value = readFileSync(LIMIT, 'utf8');
    writeFileSync(LIMIT, value);
    return value;
  } catch {
    execFileSync('nft', ['delete', 'table', 'inet', 'tracked']);
    return undefined;
  }
}

const before = limit();
const skip = before === undefined && "the limit of connections is the first namespace's, and this is another";

test('a full table of connections is mended by what is printed', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-full-'));
  try {
    execFileSync('ip', ['link', 'set', 'lo', 'up']);
    writeFileSync(LIMIT, '200');
    writeFileSync(TIMEOUT, '3600');
    execFileSync('python3', ['-c', FLOWS]);
    const networks = join(directory, 'net.d');
    mkdirSync(networks);
    const loopback = { cniVersion: '1.0.0', name: 'lo', plugins: [{ type: 'loopback' }] };
    writeFileSync(join(networks, '10-lo.conflist'), JSON.stringify(loopback));
    const answer = '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}';
    writeFileSync(join(directory, 'loopback'), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
    const env = { ...process.env, NETCONFPATH: networks, CNI_PATH: directory };
    const look = () => {
      return spawnSync(resolve('bin/heddle'), ['doctor'], { encoding: 'utf8', env }).stdout;
    };
    const printed = look();
    const [first] = findingsIn(printed);
    assert.equal(first?.id, 'kernel/conntrack-full', printed);
    for (const command of first?.commands ?? []) execFileSync('sh', ['-ec', command]);
    assert.doesNotMatch(look(), /kernel\/conntrack-full/);
  } finally {
    writeFileSync(LIMIT, before ?? '');
    execFileSync('nft', ['delete', 'table', 'inet', 'tracked']);
    rmSync(directory, { recursive: true });
  }
});
