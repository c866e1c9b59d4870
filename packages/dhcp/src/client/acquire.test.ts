import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { DhcpError } from '../dhcp-error.ts';
import { SimulatedLink, simulatedClient } from '../testing/simulated-link.ts';
import { SimulatedServer } from '../testing/simulated-server.ts';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { acquire } from './acquire.ts';

const signal = new AbortController().signal;

function lab(...servers: readonly SimulatedServer[]) {
  const clock = new VirtualClock();
  const link = new SimulatedLink(clock, servers);
  return { clock, link, types: () => link.sent.map(({ message }) => message.options.messageType) };
}

test('discover, offer, request, acknowledgement; then the address is looked for on the link', async () => {
  const server = new SimulatedServer();
  const { clock, link, types } = lab(server);
  const lease = await clock.run(acquire(simulatedClient(link, clock), { signal }));
  assert.equal(`${lease.prefix}`, '192.0.2.10/24');
  assert.equal(`${lease.server}`, '192.0.2.1');
  assert.deepEqual(lease.routers.map(String), ['192.0.2.1']);
  assert.deepEqual([lease.renewAt, lease.rebindAt, lease.expiresAt], [300_000, 525_000, 600_000]);
  assert.deepEqual(types(), ['discover', 'request']);
  assert.equal(clock.now(), 200);
  assert.ok(link.isUp);
  assert.equal(link.open, 0);
});

test('messages say who asks, from no address, to everybody', async () => {
  const { clock, link } = lab(new SimulatedServer());
  await clock.run(acquire(simulatedClient(link, clock), { signal }));
  const [discover, request] = link.sent;
  for (const sent of [discover, request]) {
    assert.equal(`${sent?.from} ${sent?.to}`, '0.0.0.0 255.255.255.255');
    assert.equal(sent?.message.broadcast, false);
    assert.equal(`${sent?.message.ciaddr}`, '0.0.0.0');
    assert.deepEqual(sent?.message.hardwareAddress, link.hardwareAddress.toBytes());
    assert.equal(Buffer.from(sent?.message.options.clientId ?? []).toString(), '\0c1/net1/eth0');
    assert.equal(sent?.message.options.maxMessageSize, 1500);
    assert.deepEqual(sent?.message.options.parameters, Uint8Array.of(1, 3));
  }
  assert.equal(discover?.message.options.serverId, undefined);
  assert.equal(`${request?.message.options.serverId}`, '192.0.2.1');
  assert.equal(`${request?.message.options.requestedAddress}`, '192.0.2.10');
});

test('options of the configuration are sent in every request, and take the place of the client’s own', async () => {
  const { clock, link } = lab(new SimulatedServer());
  const provide = [
    { code: 12, data: Buffer.from('web-1') },
    { code: 61, data: Buffer.from('my-id') },
    { code: 57, data: Uint8Array.of(2, 64) },
  ];
  await clock.run(
    acquire(simulatedClient(link, clock, { identity: { provide, parameters: [] } }), { signal }),
  );
  assert.equal(link.sent.length, 2);
  for (const { message } of link.sent) {
    assert.deepEqual(message.options.unknown, [{ code: 12, data: new Uint8Array(Buffer.from('web-1')) }]);
    assert.equal(Buffer.from(message.options.clientId ?? []).toString(), 'my-id');
    assert.equal(message.options.maxMessageSize, 576);
    assert.equal(message.options.parameters, undefined);
  }
});

test('servers are asked to broadcast when the interface, or the operator, needs it', async () => {
  const { clock, link } = lab(new SimulatedServer());
  await clock.run(acquire(simulatedClient(link, clock, { identity: { broadcast: true } }), { signal }));
  assert.ok(link.sent.every(({ message }) => message.broadcast));
});

test('what gets lost is sent again, after waits that double and differ, with the time that has passed', async () => {
  const { clock, link } = lab(new SimulatedServer());
  let lost = 0;
  link.loses = () => lost++ < 5;
  await clock.run(acquire(simulatedClient(link, clock), { signal }));
  const discovers = link.sent.filter(({ message }) => message.options.messageType === 'discover');
  const gaps = discovers.slice(1).map(({ at }, index) => at - (discovers[index]?.at ?? 0));
  assert.equal(gaps.length, 5);
  for (const [index, gap] of gaps.entries()) {
    const expected = Math.min(4000 * 2 ** index, 62_000);
    assert.ok(Math.abs(gap - expected) <= 1000, `${gap} ms instead of ${expected} ms`);
  }
  assert.ok(new Set(gaps.map((gap) => gap % 1000)).size > 1);
  assert.equal(new Set(discovers.map(({ message }) => message.xid)).size, 1);
  assert.equal(discovers.at(-1)?.message.secs, Math.floor((discovers.at(-1)?.at ?? 0) / 1000));
});

test('without an answer there are no more tries after the time allowed', async () => {
  const { clock, link } = lab();
  const client = simulatedClient(link, clock, {
    timing: { timeout: 2000, resendMax: 8000, resendTimeout: 10_000 },
  });
  await assert.rejects(
    clock.run(acquire(client, { signal })),
    (error) => DhcpError.is(error, 'DHCP_NO_ANSWER') && error.message === 'no more tries',
  );
  assert.equal(clock.now(), 10_000);
  assert.equal(link.open, 0);
});

test('an exhausted pool is no answer', async () => {
  const { clock, link } = lab(new SimulatedServer({ pool: [] }));
  await assert.rejects(
    clock.run(acquire(simulatedClient(link, clock), { signal })),
    /^DhcpError: no more tries$/,
  );
  assert.equal(clock.now(), 208_000);
});

test('an offer that is not kept leads to another round', async () => {
  const silent = new SimulatedServer({ address: '192.0.2.2', pool: ['192.0.2.66'] });
  const { clock, link, types } = lab(silent, new SimulatedServer());
  link.loses = ({ message, at }) => {
    if (message.options.messageType === 'discover') silent.isUp = at === 0;
    return message.options.serverId?.equals(silent.address) === true;
  };
  const lease = await clock.run(acquire(simulatedClient(link, clock), { signal }));
  assert.equal(`${lease.prefix.addr}`, '192.0.2.10');
  assert.deepEqual(types(), ['discover', 'request', 'request', 'request', 'discover', 'request']);
});

test('a refused request leads to another round, a second later', async () => {
  const server = new SimulatedServer();
  server.refuses = true;
  const { clock, link } = lab(server);
  const client = simulatedClient(link, clock);
  const lease = acquire(client, { signal });
  await clock.pass(500);
  server.refuses = false;
  await clock.run(lease);
  assert.equal(clock.now(), 1200);
  assert.deepEqual(client.lines, ['192.0.2.1 refused the address 192.0.2.10 that it had offered']);
});

test('answers of strangers are passed over', async () => {
  const server = new SimulatedServer();
  const { clock, link } = lab(server);
  server.isUp = false;
  const lease = acquire(simulatedClient(link, clock), { signal });
  await clock.pass(100);
  const offer = { messageType: 'offer', serverId: Addr.parse('192.0.2.66') } as const;
  const about = { op: 'reply', yiaddr: Addr.parse('192.0.2.99') } as const;
  const [{ message } = { message: undefined }] = link.sent;
  const own = { xid: message?.xid ?? 0, hardwareAddress: link.hardwareAddress.toBytes() };
  // Another number; another client; a request; no address; no server.
  link.inject({ ...about, ...own, xid: own.xid + 1, options: offer });
  link.inject({
    ...about,
    ...own,
    hardwareAddress: Mac.parse('02:00:00:00:00:02').toBytes(),
    options: offer,
  });
  link.inject({ ...about, ...own, op: 'request', options: offer });
  link.inject({ ...about, ...own, yiaddr: Addr.ZERO4, options: offer });
  link.inject({ ...about, ...own, options: { messageType: 'offer' } });
  server.isUp = true;
  assert.equal(`${(await clock.run(lease)).prefix.addr}`, '192.0.2.10');
});

test('an address that somebody has is declined; from the second on, not at once', async () => {
  const server = new SimulatedServer();
  const { clock, link, types } = lab(server);
  const squatter = Mac.parse('02:00:00:00:00:99');
  link.squatters.set('192.0.2.10', squatter).set('192.0.2.11', squatter);
  const client = simulatedClient(link, clock);
  const lease = await clock.run(acquire(client, { signal }));
  assert.equal(`${lease.prefix.addr}`, '192.0.2.12');
  assert.deepEqual(types(), [
    'discover',
    'request',
    'decline',
    'discover',
    'request',
    'decline',
    'discover',
    'request',
  ]);
  const decline = link.sent[2]?.message;
  assert.equal(`${decline?.options.requestedAddress}`, '192.0.2.10');
  assert.equal(decline?.options.message, `in use by ${squatter}`);
  assert.equal(decline?.options.parameters, undefined);
  assert.equal(clock.now(), 200 * 3 + 10_000);
  assert.match(client.lines[0] ?? '', /^192\.0\.2\.10, which 192\.0\.2\.1 leased, is in use by 02:/);
  assert.deepEqual([...server.declined], ['192.0.2.10', '192.0.2.11']);
});

test('nobody is looked for when that is switched off', async () => {
  const { clock, link } = lab(new SimulatedServer());
  link.squatters.set('192.0.2.10', Mac.BROADCAST);
  const client = simulatedClient(link, clock, { timing: { probe: 0 } });
  assert.equal(`${(await clock.run(acquire(client, { signal }))).prefix.addr}`, '192.0.2.10');
  assert.equal(clock.now(), 0);
});

test('a lease without a subnet mask, or with a broken one, is no lease and is given back', async () => {
  for (const [options, reason] of [
    [{}, /the lease of 192\.0\.2\.10 from 192\.0\.2\.1 has no subnet mask/],
    [{ subnetMask: Addr.parse('255.0.255.0') }, /has the subnet mask 255\.0\.255\.0, which is none/],
  ] as const) {
    const server = new SimulatedServer({ options });
    const { clock, link } = lab(server);
    await assert.rejects(clock.run(acquire(simulatedClient(link, clock), { signal })), reason);
    assert.equal(link.open, 0);
    assert.deepEqual([server.seen.at(-1), server.leases.size], ['release', 0]);
  }
});

test('it can be given up at any moment, and nothing stays open', async () => {
  for (const after of [0, 1000, 5000, 100_000]) {
    const { clock, link } = lab();
    const stopping = new AbortController();
    const lease = acquire(simulatedClient(link, clock), { signal: stopping.signal });
    const rejected = assert.rejects(lease, /given up/);
    await clock.pass(after);
    stopping.abort(new Error('given up'));
    await rejected;
    assert.equal(link.open, 0);
  }
});

test('an interface that is gone ends it', async () => {
  const { clock, link } = lab(new SimulatedServer());
  link.isGone = true;
  await assert.rejects(clock.run(acquire(simulatedClient(link, clock), { signal })), (error) =>
    DhcpError.is(error, 'DHCP_INTERFACE_GONE'),
  );
});
