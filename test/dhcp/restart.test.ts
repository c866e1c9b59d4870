/** The daemon is killed, started again, or not there at all (containernetworking/plugins#767). */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { bindNetns, unbindNetns } from '@heddle/sys';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { DhcpLab, type Running } from './dhcp-lab.ts';

const skip = missing('dhcpd');

/** dhcpd with leases of six seconds. */
function shortLeases(lab: DhcpLab): Running {
  return lab.dhcpd(
    '192.168.1.1/24',
    `authoritative; default-lease-time 6; max-lease-time 6; min-lease-time 6; ping-check false;
     subnet 192.168.1.0 netmask 255.255.255.0 { range 192.168.1.5 192.168.1.9; }`,
  );
}

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
  test(`after ${signal} leases are kept on, as if nothing had happened`, { skip }, async () => {
    using lab = new DhcpLab();
    const server = shortLeases(lab);
    const first = await lab.daemon();
    const pod = lab.pod('c1');
    const result = await lab.add({ pod });
    pod.configure(result);
    await first.end(signal);
    assert.equal(existsSync(lab.socket), signal === 'SIGKILL');
    assert.ok(!server.output.includes('DHCPRELEASE'));

    const second = await lab.daemon();
    await second.said('c1/net1/eth0: goes on with 192.168.1.5/24 from 192.168.1.1');
    const from = server.output.length;
    const renewals = () => server.output.slice(from).split('DHCPACK on 192.168.1.5').length - 1;
    // By the second renewal the first lease would have been over.
    await until('two renewals', () => renewals() >= 2 || undefined, 20);
    assert.ok(!server.output.slice(from).includes('DHCPDISCOVER'));
    await lab.run('CHECK', { pod, prevResult: result });
    await lab.run('DEL', { pod });
    await server.said('DHCPRELEASE of 192.168.1.5');
    assert.equal(await second.end(), 0);
  });
}

test('a namespace that went meanwhile is forgotten at the start', { skip }, async () => {
  using lab = new DhcpLab();
  shortLeases(lab);
  const first = await lab.daemon();
  const [gone, there] = [lab.pod('gone'), lab.pod('there')];
  const { path } = gone;
  await lab.add({ pod: gone });
  await lab.add({ pod: there });
  await first.end('SIGKILL');
  gone[Symbol.dispose]();
  const second = await lab.daemon();
  await second.said(/gone\/net1\/eth0: forgets 192\.168\.1\.\d\/24: /);
  await second.said('there/net1/eth0: goes on');
  await lab.run('DEL', { pod: gone, netns: path });
});

test('a namespace of the same path is another one', { skip }, async () => {
  using lab = new DhcpLab();
  const server = shortLeases(lab);
  const first = await lab.daemon();
  const pod = lab.pod('c1');
  const path = lab.file('netns');
  bindNetns(pod.handle, path);
  await lab.add({ pod, netns: path });
  await first.end('SIGKILL');
  unbindNetns(path);
  bindNetns(lab.pod('c2').handle, path);
  try {
    const second = await lab.daemon();
    await second.said(`forgets 192.168.1.5/24: ${path} is another namespace now`);
  } finally {
    unbindNetns(path);
  }
  assert.ok(!server.output.includes('DHCPRELEASE'));
});

test('a daemon that dies in the middle of an ADD: the ADD fails, and nothing is kept', { skip }, async () => {
  using lab = new DhcpLab();
  const first = await lab.daemon();
  const pod = lab.pod('c1');
  const adding = lab.add({ pod });
  const failed = assert.rejects(
    adding,
    /error dialing DHCP daemon: the daemon on .* hung up without an answer/,
  );
  // Nobody answers, so it is asking still.
  await until('the interface to be up', () => pod.isUp() || undefined);
  await first.end('SIGKILL');
  await failed;
  await lab.daemon();
  await lab.run('DEL', { pod });
  shortLeases(lab);
  await lab.add({ pod });
});

test('an ADD that is killed leaves no lease behind', { skip }, async () => {
  using lab = new DhcpLab();
  const daemon = await lab.daemon();
  const pod = lab.pod('c1');
  const adding = lab.start('ADD', { pod });
  await until('the interface to be up', () => pod.isUp() || undefined);
  await adding.end('SIGKILL');
  const server = shortLeases(lab);
  await server.said('Sending on');
  await lab.run('DEL', { pod });
  await lab.add({ pod });
  assert.equal(daemon.output.split('leased').length - 1, 1);
});

test('without a daemon ADD, CHECK and STATUS say so', async () => {
  using lab = new DhcpLab();
  const pod = lab.pod('c1');
  const dial = `error dialing DHCP daemon: dial unix ${lab.socket}: connect: no such file or directory`;
  const cniDetails = 'start it with `heddle dhcp daemon`, or by its systemd socket';
  await assert.rejects(lab.add({ pod }), { cniCode: 11, msg: dial, cniDetails });
  await assert.rejects(lab.run('CHECK', { pod }), { cniCode: 11, msg: dial, cniDetails });
  await assert.rejects(lab.run('STATUS', { pod }), { cniCode: 50, msg: dial, cniDetails });
  await lab.run('DEL', { pod });
});
