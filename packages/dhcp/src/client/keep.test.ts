import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SysError } from '@heddle/sys';
import fc from 'fast-check';
import { SimulatedLink, simulatedClient } from '../testing/simulated-link.ts';
import { SimulatedServer } from '../testing/simulated-server.ts';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { acquire } from './acquire.ts';
import { type KeptState, keep, type LeaseEnd } from './keep.ts';
import type { Lease } from './lease.ts';
import { release } from './release.ts';

/** A client that has a lease of ten minutes and keeps it. */
async function kept(...servers: readonly SimulatedServer[]) {
  const clock = new VirtualClock();
  const link = new SimulatedLink(clock, servers);
  const client = simulatedClient(link, clock);
  const stopping = new AbortController();
  const first = await clock.run(acquire(client, { signal: stopping.signal }));
  const history: [KeptState, Lease][] = [];
  let end: LeaseEnd | undefined;
  const running = keep(
    client,
    first,
    { changed: (state, lease) => history.push([state, lease]) },
    stopping.signal,
  ).then((how) => {
    end = how;
  });
  running.catch(() => {});
  link.sent.length = 0;
  return {
    ...{ clock, link, client, first, history, stopping, running },
    end: () => end,
    lease: () => history.at(-1)?.[1] ?? first,
    state: () => history.at(-1)?.[0],
  };
}

test('at half of its time a lease is renewed by its own server, from its address', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  await run.clock.pass(300_000);
  assert.equal(run.link.sent.length, 1);
  const [sent] = run.link.sent;
  assert.ok(sent !== undefined && sent.at >= 285_000 && sent.at <= 300_000, `${sent?.at}`);
  assert.ok(sent.direct);
  assert.equal(`${sent.from} ${sent.to}`, '192.0.2.10 192.0.2.1');
  assert.equal(`${sent.message.ciaddr}`, '192.0.2.10');
  const { messageType, serverId, requestedAddress } = sent.message.options;
  assert.deepEqual([messageType, serverId, requestedAddress], ['request', undefined, undefined]);
  assert.equal(run.lease().expiresAt, sent.at + 600_000);
  assert.equal(run.state(), 'bound');
});

test('a lease is kept for as long as anybody likes', async () => {
  const run = await kept(new SimulatedServer());
  await run.clock.pass(7 * 24 * 3600 * 1000);
  assert.equal(run.state(), 'bound');
  assert.ok(run.lease().expiresAt > run.clock.now());
  assert.equal(run.link.open, 0);
});

test('a lease without an end is never renewed', async () => {
  const run = await kept(new SimulatedServer({ leaseTime: 0xffff_ffff }));
  assert.equal(run.first.expiresAt, Infinity);
  await run.clock.pass(365 * 24 * 3600 * 1000);
  assert.deepEqual(run.link.sent, []);
});

test('the server’s own times for renewing and rebinding are kept to, unless they make no sense', async () => {
  const times = async (renewalTime: number, rebindingTime: number) => {
    const options = { ...new SimulatedServer().settings.options, renewalTime, rebindingTime };
    const { first } = await kept(new SimulatedServer({ options }));
    return [first.renewAt, first.rebindAt].map((moment) => moment / 1000);
  };
  assert.deepEqual(await times(100, 200), [100, 200]);
  assert.deepEqual(await times(200, 100), [80, 100]);
  assert.deepEqual(await times(900, 800), [300, 525]);
});

test('a server that is away is asked again, less and less patiently, before others are', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  server.isUp = false;
  await run.clock.pass(525_000);
  const tries = run.link.sent.filter(({ direct }) => direct);
  const rounds = tries.filter(({ at }, index) => at - (tries[index - 1]?.at ?? 0) > 30_000);
  assert.ok(rounds.length >= 3 && rounds.length <= 6, `${rounds.length} rounds`);
  assert.ok(tries.length <= 4 * rounds.length, `${tries.length} messages in ${rounds.length} rounds`);
  assert.ok(tries.every(({ to }) => `${to}` === '192.0.2.1'));
  server.isUp = true;
  await run.clock.pass(40_000);
  const [others] = run.link.sent.filter(({ direct }) => !direct);
  assert.equal(`${others?.from} ${others?.to}`, '192.0.2.10 255.255.255.255');
  assert.equal(run.state(), 'bound');
  assert.match(run.client.lines.join('\n'), /192\.0\.2\.1 does not renew .*: asks all servers/);
});

test('a renewal that got lost is sent again within seconds', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  server.isUp = false;
  while (run.link.sent.length === 0) await run.clock.pass(100);
  server.isUp = true;
  await run.clock.pass(10_000);
  assert.equal(run.link.sent.length, 2);
  assert.equal(run.state(), 'bound');
  assert.equal(run.lease().expiresAt, (run.link.sent[1]?.at ?? 0) + 600_000);
});

test('another server can take over', async () => {
  const first = new SimulatedServer();
  const second = new SimulatedServer({ address: '192.0.2.2' });
  second.isUp = false;
  const run = await kept(first, second);
  first.isUp = false;
  second.isUp = true;
  await run.clock.pass(560_000);
  assert.equal(`${run.lease().server}`, '192.0.2.2');
  assert.equal(run.state(), 'bound');
  await run.clock.pass(600_000);
  assert.equal(run.end(), undefined);
  assert.equal(`${run.link.sent.at(-1)?.to}`, '192.0.2.2');
});

test('a lease that nobody extends ends on time, and the interface is set down', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  server.isUp = false;
  await run.clock.pass(599_000);
  assert.equal(run.state(), 'rebinding');
  assert.ok(run.link.isUp);
  await run.clock.pass(1000);
  assert.equal(run.end(), 'expired');
  assert.equal(run.link.isUp, false);
  assert.equal(run.link.open, 0);
});

test('after a refusal the same address is asked for again, and kept', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  server.refuses = true;
  // Whoever answers for the address now is the interface itself.
  run.link.squatters.set('192.0.2.10', run.link.hardwareAddress);
  const renewal = run.clock.pass(300_500);
  await renewal;
  server.refuses = false;
  await run.clock.pass(5000);
  assert.equal(run.state(), 'bound');
  assert.equal(`${run.lease().prefix}`, '192.0.2.10/24');
  const types = run.link.sent.map(({ message }) => message.options.messageType);
  assert.ok(types.includes('discover'));
  assert.equal(
    `${run.link.sent.find(({ message }) => message.options.messageType === 'discover')?.message.options.requestedAddress}`,
    '192.0.2.10',
  );
});

test('another address than the interface has is given back, and the interface set down', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  server.declined.add('192.0.2.10');
  await run.clock.pass(305_000);
  assert.equal(run.end(), 'refused');
  assert.equal(run.link.isUp, false);
  assert.equal(server.leases.size, 0);
  assert.match(run.client.lines.join('\n'), /want 192\.0\.2\.11\/24 in the place of 192\.0\.2\.10\/24/);
});

test('an acknowledgement of another address is no answer', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  run.link.loses = ({ message }) => {
    const { xid, hardwareAddress } = message;
    const options = { messageType: 'ack', serverId: server.address, leaseTime: 99 } as const;
    run.link.inject({ op: 'reply', xid, hardwareAddress, yiaddr: server.address, options });
    return run.link.sent.length === 1;
  };
  await run.clock.pass(500_000);
  assert.equal(`${run.lease().prefix}`, '192.0.2.10/24');
  assert.ok(run.lease().expiresAt > 600_000);
});

test('what an extension does not repeat stays', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  Object.assign(server.settings, { options: {} });
  await run.clock.pass(310_000);
  assert.ok(run.lease().expiresAt > 600_000);
  assert.equal(`${run.lease().prefix}`, '192.0.2.10/24');
  assert.deepEqual(run.lease().routers.map(String), ['192.0.2.1']);
});

test('where the address is not on the host, or its port is taken, the way is past the host’s IP', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  run.link.refusal = new SysError({ syscall: 'bind', errnum: 99 });
  await run.clock.pass(310_000);
  assert.ok(run.lease().expiresAt > 600_000);
  assert.deepEqual(
    run.link.sent.map(({ direct, to }) => [direct, `${to}`]),
    [[false, '192.0.2.1']],
  );
  assert.match(
    run.client.lines.join(),
    /cannot ask 192\.0\.2\.1 over the host's own IP: bind: EADDRNOTAVAIL/,
  );
});

test('a kernel that refuses for a while is asked again, and is told of once', async () => {
  const run = await kept(new SimulatedServer());
  const down = new SysError({ syscall: 'send', errnum: 100 });
  run.link.refusal = down;
  run.link.loses = () => {
    throw down;
  };
  await run.clock.pass(320_000);
  assert.equal(run.state(), 'renewing');
  run.link.loses = () => false;
  await run.clock.pass(20_000);
  assert.equal(run.state(), 'bound');
  assert.equal(run.client.lines.filter((line) => line.startsWith('send: ENETDOWN')).length, 1);
});

test('a lease of an interface that is gone is not kept', async () => {
  const run = await kept(new SimulatedServer());
  run.link.isGone = true;
  await run.clock.pass(310_000);
  assert.equal(run.end(), 'gone');
});

test('between tries nothing is open that would keep a namespace, so one that goes is noticed', async () => {
  const server = new SimulatedServer({ leaseTime: 86_400 });
  const run = await kept(server);
  server.isUp = false;
  await run.clock.pass(44_000_000);
  assert.equal(run.state(), 'renewing');
  assert.equal(run.link.open, 0);
  await run.clock.pass(36_000_000);
  assert.equal(run.state(), 'rebinding');
  assert.equal(run.link.open, 0);
  run.link.isGone = true;
  await run.clock.pass(4_000_000);
  assert.equal(run.end(), 'gone');
});

test('whoever oversleeps asks for the same address again', async () => {
  const server = new SimulatedServer();
  const clock = new VirtualClock();
  const link = new SimulatedLink(clock, [server]);
  const client = simulatedClient(link, clock);
  const { signal } = new AbortController();
  const lease = await clock.run(acquire(client, { signal }));
  await clock.pass(900_000);
  const states: KeptState[] = [];
  void keep(client, lease, { changed: (state) => states.push(state) }, signal);
  await clock.pass(1000);
  assert.deepEqual(states, ['bound', 'bound']);
  assert.ok(link.isUp);
});

test('it can be stopped at any moment, and nothing changes', async () => {
  for (const after of [0, 299_000, 300_000, 400_000, 560_000]) {
    const server = new SimulatedServer();
    const run = await kept(server);
    server.isUp = after < 300_000;
    await run.clock.pass(after);
    run.stopping.abort(new Error('stopped'));
    await assert.rejects(run.running, /stopped/);
    assert.equal(run.link.open, 0);
    assert.ok(run.link.isUp);
  }
});

test('giving back names the server and the address, and asks for nothing', async () => {
  const server = new SimulatedServer();
  const run = await kept(server);
  await release(run.client, run.first);
  const [sent] = run.link.sent;
  assert.equal(`${sent?.from} ${sent?.to}`, '192.0.2.10 192.0.2.1');
  assert.equal(`${sent?.message.ciaddr}`, '192.0.2.10');
  const { clientId, messageType, serverId, ...others } = sent?.message.options ?? {};
  assert.deepEqual([messageType, `${serverId}`, others], ['release', '192.0.2.1', {}]);
  assert.equal(Buffer.from(clientId ?? []).toString(), '\0c1/net1/eth0');
  assert.equal(server.leases.size, 0);
});

test('whatever servers do: an address is used only while it is leased', async () => {
  const happening = fc.record({
    after: fc.integer({ min: 1, max: 400 }),
    server: fc.constantFrom(0, 1),
    what: fc.constantFrom('up', 'down', 'refuse', 'accept', 'forget', 'lose', 'deliver'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 12 }), async (happenings) => {
      const servers = [new SimulatedServer(), new SimulatedServer({ address: '192.0.2.2' })];
      const run = await kept(...servers);
      for (const { after, server: index, what } of happenings) {
        const server = servers[index];
        if (server === undefined) continue;
        if (what === 'up' || what === 'down') server.isUp = what === 'up';
        if (what === 'refuse' || what === 'accept') server.refuses = what === 'refuse';
        if (what === 'forget') server.leases.clear();
        if (what === 'lose' || what === 'deliver') run.link.loses = () => what === 'lose';
        for (let n = 0; n < after; n += 10) {
          await run.clock.pass(10_000);
          // After a refusal, or the end of its time, a lease may be asked for again for as long as that may take.
          const grace = run.state() === 'bound' ? 0 : 208_000;
          if (run.end() === undefined) assert.ok(run.clock.now() <= run.lease().expiresAt + grace);
          else assert.equal(run.link.isUp, false);
          assert.ok(run.link.open <= 1);
        }
      }
      run.stopping.abort();
    }),
    { numRuns: 60 },
  );
});
