/** Addresses of a DHCP server that nobody gives back are found. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { buildStandalone } from '../../../scripts/build-standalone.ts';
import { checkPlugin } from './run.ts';

/** The plugin `dhcp`, with shell commands before each of its calls. */
class DhcpPlugin implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-leases-'));
  readonly program = join(this.#directory, 'dhcp');

  constructor(before: string) {
    const whole = join(this.#directory, 'whole');
    mkdirSync(whole);
    symlinkSync(resolve(buildStandalone(), 'heddle-cni'), join(whole, 'dhcp'));
    writeFileSync(this.program, `#!/bin/sh\n${before}\nexec '${whole}/dhcp' "$@"\n`, { mode: 0o755 });
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }
}

async function leaks(before: string) {
  using plugin = new DhcpPlugin(before);
  const only = ['leaks/node', 'leaks/many-rounds'];
  const { outcomes } = await checkPlugin({ program: plugin.program, only, env: process.env });
  return outcomes.map(({ id, status, reason, failure }) => {
    return `${id} ${status}: ${failure?.expected ?? reason}; ${failure?.got}`;
  });
}

test('a lease that is given back is no leak', async () => {
  for (const outcome of await leaks('')) assert.match(outcome, /^leaks\/\S+ passed/);
});

test('one that can be given back only from its own address is no leak either: the interface has it', async () => {
  const own = 'nsenter --net="$CNI_NETNS" ip -4 address show dev "$CNI_IFNAME" | grep -q "inet 10.216."';
  const whenBare = `${own} || nsenter --net="$CNI_NETNS" ip link set "$CNI_IFNAME" down`;
  for (const outcome of await leaks(`if [ "\${CNI_COMMAND:-}" = DEL ]; then ${whenBare}; fi`))
    assert.match(outcome, /^leaks\/\S+ passed/);
});

test('one that is not, since the way to the server is gone before DEL, is', async () => {
  const cut = 'nsenter --net="$CNI_NETNS" ip link set "$CNI_IFNAME" down';
  const [once, often] = await leaks(`if [ "\${CNI_COMMAND:-}" = DEL ]; then ${cut}; fi`);
  assert.match(once ?? '', /^leaks\/node failed: the leases of DHCP as they were.*; \+ lease 10\.216\.\d+/);
  assert.match(often ?? '', /^leaks\/many-rounds failed: the leases of DHCP as they were/);
});
