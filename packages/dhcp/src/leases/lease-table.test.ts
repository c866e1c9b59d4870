import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SysError } from '@heddle/sys';
import { DhcpError } from '../dhcp-error.ts';
import type { Place } from '../kernel/interface.ts';
import { SimulatedLink } from '../testing/simulated-link.ts';
import { leased, SimulatedServer } from '../testing/simulated-server.ts';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { fileLeaseStore } from './lease-store.ts';
import { type LeaseRequest, LeaseTable } from './lease-table.ts';
import { ownerFile } from './owner.ts';

/** A machine with a server on its link, and a table that can be started again. */
class Machine implements Disposable {
  readonly clock = new VirtualClock();
  readonly server = new SimulatedServer();
  readonly links = new Map<string, SimulatedLink>();
  readonly lines: string[] = [];
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-leases-'));
  boot = 'first';
  table = this.start();

  start(): LeaseTable {
    const { clock } = this;
    const log = (message: string) => this.lines.push(message);
    let n = 0;
    return new LeaseTable(
      {
        ...{ clock, log },
        random: () => ((n++ * 2_654_435_761) % 2 ** 32) / 2 ** 32,
        boot: this.boot,
        store: fileLeaseStore(this.directory, log),
        locate: async (netns, ifName) => this.locate(netns, ifName),
        interfaceAt: ({ netns }) => this.link(netns),
      },
      {
        timing: { timeout: 4000, resendMax: 62_000, resendTimeout: 208_000, probe: 200 },
        broadcast: false,
      },
    );
  }

  link(netns: string): SimulatedLink {
    const found = this.links.get(netns) ?? new SimulatedLink(this.clock, [this.server]);
    this.links.set(netns, found);
    return found;
  }

  locate(netns: string, ifName: string): Place {
    if (this.link(netns).isGone) throw new DhcpError('DHCP_INTERFACE_GONE', `there is no ${ifName}`);
    return { netns, identity: `cookie ${netns}`, ifName, index: 2 };
  }

  files(): readonly string[] {
    return readdirSync(this.directory);
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true });
  }
}

const { signal } = new AbortController();

function request(containerID: string, ifName = 'eth0'): LeaseRequest {
  const owner = { network: 'net1', containerID, ifName };
  return { owner, netns: `/run/netns/${containerID}-${ifName}`, provide: [], parameters: [1, 3] };
}

test('a lease is got, known, kept in a file, and given back', async () => {
  using machine = new Machine();
  const { clock, table, server } = machine;
  const lease = await clock.run(table.acquire(request('c1'), signal));
  assert.equal(table.find(request('c1').owner)?.lease, lease);
  assert.deepEqual(
    table.list().map(({ owner, state }) => [owner.containerID, state]),
    [['c1', 'bound']],
  );
  assert.equal(machine.files().length, 1);
  assert.equal(await clock.run(table.release(request('c1').owner)), true);
  assert.equal(server.leases.size, 0);
  assert.deepEqual(machine.files(), []);
  assert.deepEqual(table.list(), []);
  assert.equal(await table.release(request('c1').owner), false);
  assert.deepEqual(machine.lines, [
    'c1/net1/eth0: leased 192.0.2.10/24 from 192.0.2.1',
    'c1/net1/eth0: gave 192.0.2.10 back to 192.0.2.1',
  ]);
});

test('an address that the interface has already is taken over, or left to drift', async () => {
  using machine = new Machine();
  const { clock, table, server } = machine;
  const lease = await clock.run(table.adopt(request('c1'), leased('192.0.2.12'), signal));
  assert.equal(`${lease.prefix}`, '192.0.2.12/24');
  assert.equal(table.find(request('c1').owner)?.lease, lease);
  // Whoever answers for the address is the interface itself.
  assert.equal(clock.now(), 0);
  await assert.rejects(
    clock.run(table.adopt(request('c2'), leased('192.0.2.99'), signal)),
    /the servers want 192\.0\.2\.10\/24 in the place of 192\.0\.2\.99\/24/,
  );
  assert.equal(table.find(request('c2').owner), undefined);
  assert.equal(server.leases.size, 1);
});

test('two interfaces of a container have leases of their own (containernetworking/plugins#217)', async () => {
  using machine = new Machine();
  const { clock, table } = machine;
  const one = await clock.run(table.acquire(request('c1', 'eth1'), signal));
  const two = await clock.run(table.acquire(request('c1', 'eth2'), signal));
  assert.notEqual(`${one.prefix}`, `${two.prefix}`);
  await clock.run(table.release(request('c1', 'eth1').owner));
  await clock.pass(3_600_000);
  const left = table.find(request('c1', 'eth2').owner);
  assert.equal(left?.state, 'bound');
  assert.ok((left?.lease.expiresAt ?? 0) > clock.now());
});

test('whoever asks again gets the lease that he has', async () => {
  using machine = new Machine();
  const { clock, table, server } = machine;
  const lease = await clock.run(table.acquire(request('c1'), signal));
  const { length } = server.seen;
  assert.equal(await table.acquire(request('c1'), signal), lease);
  assert.equal(server.seen.length, length);
});

test('for another interface, a new lease takes the place of the old one', async () => {
  using machine = new Machine();
  const { clock, table, server } = machine;
  await clock.run(table.acquire(request('c1'), signal));
  await clock.run(table.acquire({ ...request('c1'), netns: '/run/netns/new' }, signal));
  assert.deepEqual(server.seen, ['discover', 'request', 'release', 'discover', 'request']);
  assert.equal(table.list().length, 1);
});

test('requests of one owner wait for each other, those of others do not', async () => {
  using machine = new Machine();
  const { clock, table, server } = machine;
  const [first, second, other] = await clock.run(
    Promise.all([
      table.acquire(request('c1'), signal),
      table.acquire(request('c1'), signal),
      table.acquire(request('c2'), signal),
    ]),
  );
  assert.equal(first, second);
  assert.notEqual(`${first?.prefix}`, `${other?.prefix}`);
  assert.equal(server.leases.size, 2);
  assert.equal(clock.now(), 200);
});

test('a release cuts short what is being asked for', async () => {
  using machine = new Machine();
  const { clock, table, server } = machine;
  server.isUp = false;
  const asked = assert.rejects(table.acquire(request('c1'), signal), /given back before it came/);
  await clock.pass(1000);
  assert.equal(await clock.run(table.release(request('c1').owner)), false);
  await asked;
  assert.deepEqual(table.list(), []);
});

test('whoever hangs up gets no lease, and leaves none behind', async () => {
  for (const after of [0, 100, 250]) {
    using machine = new Machine();
    const { clock, table, server } = machine;
    const hangingUp = new AbortController();
    const asked = table.acquire(request('c1'), hangingUp.signal);
    const outcome = asked.then(
      () => 'leased',
      () => 'cut short',
    );
    await clock.pass(after);
    hangingUp.abort(new Error('nobody is there'));
    assert.equal(await clock.run(outcome), after < 200 ? 'cut short' : 'leased');
    assert.equal(table.list().length, after < 200 ? 0 : 1);
    assert.equal(server.leases.size, table.list().length);
  }
});

test('a table that starts again goes on with its leases (containernetworking/plugins#767)', async () => {
  using machine = new Machine();
  const { clock, server } = machine;
  await clock.run(machine.table.acquire(request('c1'), signal));
  await clock.pass(100_000);
  await machine.table.stop();
  await clock.pass(100_000);
  assert.equal(server.leases.size, 1);

  const table = machine.start();
  await table.resume();
  assert.match(machine.lines.at(-1) ?? '', /goes on with 192\.0\.2\.10\/24/);
  await clock.pass(1_200_000);
  const found = table.find(request('c1').owner);
  assert.equal(found?.state, 'bound');
  assert.ok((found?.lease.expiresAt ?? 0) > clock.now());
  await clock.run(table.release(request('c1').owner));
  assert.equal(server.leases.size, 0);
  assert.deepEqual(machine.files(), []);
});

test('leases of interfaces that are gone, and of another run of the machine, are forgotten', async () => {
  using machine = new Machine();
  const { clock } = machine;
  await clock.run(machine.table.acquire(request('c1'), signal));
  await clock.run(machine.table.acquire(request('c2'), signal));
  await machine.table.stop();
  machine.link('/run/netns/c1-eth0').isGone = true;
  const table = machine.start();
  await table.resume();
  assert.deepEqual(
    table.list().map(({ owner }) => owner.containerID),
    ['c2'],
  );
  await table.stop();
  machine.boot = 'second';
  await machine.start().resume();
  assert.deepEqual(machine.files(), []);
  assert.match(machine.lines.at(-1) ?? '', /c2\/net1\/eth0: forgets .*: the machine restarted/);
});

test('a lease whose interface cannot be looked at just now is kept', async () => {
  using machine = new Machine();
  const { clock } = machine;
  await clock.run(machine.table.acquire(request('c1'), signal));
  await machine.table.stop();
  const link = machine.link('/run/netns/c1-eth0');
  link.check = () => Promise.reject(new SysError({ syscall: 'open', errnum: 23 }));
  const table = machine.start();
  await table.resume();
  assert.equal(table.find(request('c1').owner)?.state, 'bound');
  assert.equal(machine.files().length, 1);
  assert.match(machine.lines.join(), /c1\/net1\/eth0: .*ENFILE/);
});

test('a lease whose interface goes is forgotten, one that is lost is not: CHECK wants to tell', async () => {
  using machine = new Machine();
  const { clock, table, server } = machine;
  await clock.run(table.acquire(request('c1'), signal));
  await clock.run(table.acquire(request('c2'), signal));
  machine.link('/run/netns/c1-eth0').isGone = true;
  server.isUp = false;
  await clock.pass(700_000);
  assert.deepEqual(
    table.list().map(({ owner, state }) => [owner.containerID, state]),
    [['c2', 'expired']],
  );
  assert.deepEqual(machine.files(), []);
  // A new ADD gets a new lease, and DEL has nothing to give back.
  server.isUp = true;
  await clock.run(table.acquire(request('c2'), signal));
  assert.equal(table.find(request('c2').owner)?.state, 'bound');
});

test('files that hold no lease are told of, and hurt nobody', async () => {
  using machine = new Machine();
  const { clock } = machine;
  await clock.run(machine.table.acquire(request('c1'), signal));
  await machine.table.stop();
  const [name = ''] = machine.files();
  const good = readFileSync(join(machine.directory, name), 'utf8');
  writeFileSync(join(machine.directory, 'cut.json'), good.slice(0, 100));
  writeFileSync(join(machine.directory, 'other.json'), '{"boot":"first"}');
  writeFileSync(join(machine.directory, 'x.json.new'), 'unfinished');
  const table = machine.start();
  await table.resume();
  assert.equal(table.list().length, 1);
  assert.equal(machine.lines.filter((line) => line.includes('holds no lease')).length, 2);
  assert.deepEqual([...machine.files()].sort(), [name, 'cut.json', 'other.json'].sort());
});

test('a lease is good without its file', async () => {
  using machine = new Machine();
  const { clock } = machine;
  rmSync(machine.directory, { recursive: true });
  writeFileSync(machine.directory, 'no directory');
  await clock.run(machine.table.acquire(request('c1'), signal));
  assert.equal(machine.table.find(request('c1').owner)?.state, 'bound');
  assert.match(machine.lines[1] ?? '', /save the lease in /);
});

test('a file that cannot be finished is not left half', async () => {
  using machine = new Machine();
  const { clock } = machine;
  const name = ownerFile(request('c1').owner);
  mkdirSync(join(machine.directory, name));
  await clock.run(machine.table.acquire(request('c1'), signal));
  assert.deepEqual(machine.files(), [name]);
});

test('what is saved is what was leased, an endless lease too', async () => {
  using machine = new Machine();
  const { clock, server, table } = machine;
  Object.assign(server.settings, { leaseTime: 0xffff_ffff });
  const provide = [{ code: 12, data: Uint8Array.of(1, 2, 255) }];
  const lease = await clock.run(table.acquire({ ...request('c1'), provide }, signal));
  const [stored] = fileLeaseStore(machine.directory, assert.fail).list();
  assert.deepEqual(stored?.lease, lease);
  assert.deepEqual(stored?.identity.provide, provide);
  assert.deepEqual(stored?.owner, request('c1').owner);
  assert.deepEqual(fileLeaseStore(machine.directory, assert.fail).find(request('c1').owner), stored);
  assert.equal(fileLeaseStore(machine.directory, assert.fail).find(request('c2').owner), undefined);
});
