import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AgentError, askStatus } from '@heddle/agent';
import { handoverBytes } from '@heddle/cni/runtime';
import { createNetns } from '@heddle/sys';
import { AgentLab, openDescriptors, plugin } from './agent-lab.ts';

const result = /"cniVersion": "1.1.0"/;
/** ADD wants one; nothing here enters it. */
const env = { CNI_NETNS: '/run/netns/nowhere' };

test('a call gets its answer, with warnings, and its error', async () => {
  await using lab = new AgentLab();
  await lab.agent([
    plugin({
      async add(call) {
        call.warn(`with ${call.ifName}`);
        return { cniVersion: '1.1.0' };
      },
      async del() {
        throw new Error('no such luck');
      },
    }),
  ]);
  const added = await lab.call({ env });
  assert.match(added.stdout, result);
  assert.partialDeepStrictEqual(added, { exitCode: 0, stderr: 'bridge: with eth0\n' });
  const deleted = await lab.call({ command: 'DEL' });
  assert.equal(deleted.exitCode, 1);
  assert.match(JSON.parse(deleted.stdout).msg, /no such luck/);
});

test('the plugin is in the namespace that the caller opened, and nothing of it is held when the answer comes', async () => {
  await using lab = new AgentLab();
  using netns = createNetns();
  const held = () =>
    readdirSync('/proc/self/fd').filter(
      (fd) => fd !== `${netns.number}` && links(fd) === `net:[${netns.ino}]`,
    );
  let inside = '';
  let meanwhile = 0;
  await lab.agent([
    plugin({
      async add(call) {
        inside = (await call.container.links.list()).map(({ name }) => `${name} in ${call.netns.key}`).join();
        meanwhile = held().length;
        return { cniVersion: '1.1.0' };
      },
    }),
  ]);
  const path = `/proc/${process.pid}/fd/${netns.number}`;
  const { exitCode, stdout } = await lab.call({ env: { CNI_NETNS: path } });
  assert.equal(exitCode, 0, stdout);
  assert.equal(inside, `lo in ${netns.key}`);
  assert.ok(meanwhile > 0);
  assert.deepEqual(held(), []);
});

test('what CNI_NETNS names is explained as without an agent', async () => {
  await using lab = new AgentLab();
  await lab.agent([plugin({ add: async ({ netns }) => ({ cniVersion: netns.key }) })]);
  const nothing = await lab.call({ env });
  assert.match(JSON.parse(nothing.stdout).msg, /failed to open netns "\/run\/netns\/nowhere": .*ENOENT/);
  const file = await lab.call({ env: { CNI_NETNS: lab.directory } });
  assert.match(JSON.parse(file.stdout).msg, /unknown FS magic on/);
});

test('calls run at the same time, those about one attachment one after the other', async () => {
  await using lab = new AgentLab();
  const gate = Promise.withResolvers<void>();
  const order: string[] = [];
  await lab.agent([
    plugin({
      async add({ containerID }) {
        order.push(`ADD ${containerID} begins`);
        if (containerID === 'c1') await gate.promise;
        order.push(`ADD ${containerID} ends`);
        return { cniVersion: '1.1.0' };
      },
      async del({ containerID }) {
        order.push(`DEL ${containerID}`);
      },
    }),
  ]);
  const slow = lab.start({ env });
  while (order.length === 0) await new Promise(setImmediate);
  const del = lab.start({ command: 'DEL' });
  await lab.call({ env: { ...env, CNI_CONTAINERID: 'c2' } });
  assert.deepEqual(order, ['ADD c1 begins', 'ADD c2 begins', 'ADD c2 ends']);
  gate.resolve();
  await Promise.all([slow.ended, del.ended]);
  assert.deepEqual(order.slice(3), ['ADD c1 ends', 'DEL c1']);
  assert.deepEqual(readdirSync(join(lab.directory, 'turns')), []);
});

test('the ADD of a caller that has gone is taken back, its DEL is done', async () => {
  await using lab = new AgentLab();
  const gate = Promise.withResolvers<void>();
  const log: string[] = [];
  await lab.agent([
    plugin({
      async add({ undo }) {
        undo.push('log', async () => void log.push('undone'));
        log.push('added');
        await gate.promise;
        return { cniVersion: '1.1.0' };
      },
      async del() {
        log.push('deleting');
        await gate.promise;
        log.push('deleted');
      },
    }),
  ]);
  const add = lab.start({ env });
  const del = lab.start({ command: 'DEL', env: { CNI_IFNAME: 'eth1' } });
  while (log.length < 2) await new Promise(setImmediate);
  add.child.kill('SIGKILL');
  del.child.kill('SIGKILL');
  await Promise.all([add.ended, del.ended]);
  // That it has hung up is an event like any other, which a timer may come before.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise(setImmediate);
  gate.resolve();
  while (log.length < 4) await new Promise(setImmediate);
  assert.deepEqual(log.toSorted(), ['added', 'deleted', 'deleting', 'undone']);
});

test('a caller in other namespaces, or with a plugin that is unknown, is sent away', async () => {
  await using lab = new AgentLab();
  await lab.agent([plugin()]);
  for (const flag of ['--net', '--mount']) {
    const { stdout } = await lab.call({ through: ['unshare', flag], env });
    assert.match(stdout, /^standalone ADD/);
  }
  assert.match((await lab.call({ type: 'host-local', env })).stdout, /^standalone ADD/);
  assert.equal(lab.events.filter(({ kind }) => kind === 'declined').length, 3);
});

test('the socket is for root alone, and so is the agent behind it', async () => {
  await using lab = new AgentLab();
  await lab.agent([plugin()]);
  assert.equal(statSync(lab.socket).mode & 0o777, 0o600);
  chmodSync(lab.directory, 0o755);
  const nobody = { uid: 65_534, env };
  assert.match((await lab.call(nobody)).stdout, /^standalone ADD/);
  assert.deepEqual(lab.events, []);
  chmodSync(lab.socket, 0o666);
  assert.match((await lab.call(nobody)).stdout, /^standalone ADD/);
  assert.partialDeepStrictEqual(await lab.event('trouble'), {
    error: new AgentError('AGENT_CLIENT', 'serve a client: user 65534 is not root'),
  });
});

test('clients that stall, send garbage or too much are dropped and hold nobody up', async () => {
  await using lab = new AgentLab();
  const before = openDescriptors();
  const agent = await lab.agent([plugin()], { limits: { clients: 24, unfinished: 4 << 20, patience: 300 } });
  const whole = handoverBytes({ type: 'bridge', stdin: new Uint8Array(3 << 20) });
  const clients = await Promise.all([
    ...Array.from({ length: 10 }, () => lab.raw()),
    lab.raw('GET / HTTP/1.1\r\n\r\n'.repeat(10)),
    lab.raw(whole.subarray(0, 20)),
    lab.raw(whole.subarray(0, 1000)),
    lab.raw(new Uint8Array(1 << 20)),
    // Two of these are more than there is room for.
    lab.raw(whole.subarray(0, 3 << 20)),
    lab.raw(whole.subarray(0, 3 << 20)),
  ]);
  const calls = await Promise.all(Array.from({ length: 8 }, () => lab.call({ env })));
  for (const { stdout } of calls) assert.match(stdout, result);
  await Promise.all(clients.map(({ ended }) => ended));
  while ((await agent.status()).clients > 0) await new Promise(setImmediate);
  assert.equal((await agent.status()).troubles, clients.length);
  await agent.stop();
  assert.ok(openDescriptors() <= before + 8, `${openDescriptors()} descriptors, ${before} before`);
});

test('clients that say nothing make room for those who do, the oldest first, and only then', async () => {
  await using lab = new AgentLab();
  const agent = await lab.agent([plugin()], { limits: { clients: 4, grace: 50, patience: 3_600_000 } });
  const silent = await Promise.all(Array.from({ length: 3 }, () => lab.raw()));
  while ((await agent.status()).clients < 3) await new Promise(setImmediate);
  assert.match((await lab.call({ env })).stdout, result);
  assert.equal((await agent.status()).troubles, 0);
  silent.push(...(await Promise.all(Array.from({ length: 7 }, () => lab.raw()))));
  for (let call = 0; call < 3; call++) assert.match((await lab.call({ env })).stdout, result);
  // The oldest has gone, long before its time.
  await silent[0]?.ended;
  assert.ok((await agent.status()).clients <= 4);
  for (const { socket } of silent) socket.destroy();
});

test('more callers than it takes at a time wait for their turn', async () => {
  await using lab = new AgentLab();
  let present = 0;
  let most = 0;
  await lab.agent(
    [
      plugin({
        async add() {
          most = Math.max(most, ++present);
          await new Promise((resolve) => setTimeout(resolve, 2));
          present--;
          return { cniVersion: '1.1.0' };
        },
      }),
    ],
    { limits: { clients: 3 } },
  );
  const calls = Array.from({ length: 20 }, (_, index) =>
    lab.call({ env: { ...env, CNI_CONTAINERID: `c${index}` } }),
  );
  for (const { stdout } of await Promise.all(calls)) assert.match(stdout, result);
  assert.equal(most, 3);
});

test('DELs that wait are done before anybody is served, in their order and in no strange namespace', async () => {
  await using lab = new AgentLab({ withStandalone: false });
  using netns = createNetns();
  const path = `/proc/${process.pid}/fd/${netns.number}`;
  await lab.call({ command: 'DEL', env: { CNI_CONTAINERID: 'z', CNI_NETNS: path } });
  await lab.call({
    command: 'DEL',
    env: { CNI_CONTAINERID: 'a', CNI_NETNS: '/proc/self/ns/net', CNI_NETNS_OVERRIDE: '1' },
  });
  await lab.call({ command: 'DEL', env: { CNI_CONTAINERID: 'fails' } });
  const log: string[] = [];
  const agent = await lab.agent([
    plugin({
      async del({ containerID, netnsPath }) {
        assert.ok(!existsSync(lab.socket));
        log.push(`${containerID} ${netnsPath}`);
        if (containerID === 'fails') throw new Error('not now');
      },
    }),
  ]);
  // The second one's path names another process's namespace by now, but it is the same namespace.
  assert.deepEqual(log, [`z ${path}`, 'a /proc/self/ns/net', 'fails ']);
  assert.equal((await agent.status()).waitingDels, 1);
  assert.equal((await agent.status()).replayed, 3);
});

test('a DEL is not done in a namespace that has taken the place of its own', async () => {
  await using lab = new AgentLab({ withStandalone: false });
  const path = '/proc/thread-self/ns/net';
  // The path names the caller's namespace there, and the agent's here.
  await lab.call({ command: 'DEL', through: ['unshare', '--net'], env: { CNI_NETNS: path } });
  let told: string | undefined;
  await lab.agent([
    plugin({
      async del({ netnsPath }) {
        told = netnsPath;
      },
    }),
  ]);
  assert.equal(told, '');
});

test('an ADD after a DEL that waits makes that void, also while the agent runs', async () => {
  await using lab = new AgentLab({ withStandalone: false });
  await lab.call({ command: 'DEL' });
  let deleted = 0;
  const failing = plugin({
    async del() {
      deleted++;
      throw new Error('not now');
    },
  });
  const agent = await lab.agent([failing]);
  assert.equal(deleted, 1);
  await lab.call({ env });
  assert.equal((await agent.status()).waitingDels, 0);
});

test('a new agent takes over without a failed call, while the old one ends what it has begun', async () => {
  await using lab = new AgentLab({ withStandalone: false });
  const gate = Promise.withResolvers<void>();
  let begun = false;
  const old = await lab.agent([
    plugin({
      async add({ containerID }) {
        if (containerID === 'slow') {
          begun = true;
          await gate.promise;
        }
        return { cniVersion: '1.1.0' };
      },
    }),
  ]);
  const slow = lab.start({ env: { ...env, CNI_CONTAINERID: 'slow' } });
  while (!begun) await new Promise(setImmediate);
  let ended = false;
  const calling = Promise.all(
    Array.from({ length: 4 }, async (_, caller) => {
      for (let round = 0; !ended || round < 10; round++) {
        const { stdout } = await lab.call({ env: { ...env, CNI_CONTAINERID: `c${caller}-${round}` } });
        assert.match(stdout, result);
      }
    }),
  );
  const young = await lab.agent([plugin()]);
  await lab.event('replaced');
  ended = true;
  await calling;
  assert.ok(((await young.status()).calls['ADD']?.done ?? 0) > 0);
  gate.resolve();
  assert.match((await slow.ended).stdout, result);
  await old.stop();
  assert.ok(existsSync(lab.socket), 'the socket is the new one');
});

test('it ends when told, after what it has begun, and takes its socket away', async () => {
  await using lab = new AgentLab();
  const gate = Promise.withResolvers<void>();
  let begun = false;
  const agent = await lab.agent([
    plugin({
      async add() {
        begun = true;
        await gate.promise;
        return { cniVersion: '1.1.0' };
      },
    }),
  ]);
  const slow = lab.start({ env });
  while (!begun) await new Promise(setImmediate);
  const stopped = agent.stop();
  assert.ok(!existsSync(lab.socket));
  assert.match((await lab.call({ env })).stdout, /^standalone ADD/);
  gate.resolve();
  assert.match((await slow.ended).stdout, result);
  await stopped;
});

test('it says how it is', async () => {
  await using lab = new AgentLab();
  await lab.agent([plugin()]);
  await lab.call({ env });
  await lab.call({ command: 'CHECK', stdin: '{', env });
  const status = await askStatus(lab.socket);
  assert.partialDeepStrictEqual(status, {
    ...{ version: 'test', pid: process.pid, clients: 1, waitingDels: 0, troubles: 0 },
    calls: { ADD: { done: 1, failed: 0 }, CHECK: { done: 1, failed: 1 } },
  });
  await assert.rejects(askStatus(`${lab.socket}-none`), { code: 'AGENT_ABSENT' });
});

function links(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
