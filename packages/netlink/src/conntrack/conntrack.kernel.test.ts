import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import { only } from '../lab/only.ts';
import { TestNetns } from '../testing/test-netns.ts';
import { type Flow, IPS } from './flow.ts';

const UDP = ['-p', 'udp', '-s', '10.0.0.1', '-d', '10.0.0.2', '-t', '100'];

function track(lab: TestNetns, ...args: readonly string[]): void {
  lab.run('conntrack', '-I', ...args);
}

function tracked(lab: TestNetns): readonly string[] {
  const text = ['ipv4', 'ipv6'].map((family) => lab.run('conntrack', '-L', '-f', family)).join('');
  return text.split('\n').filter((line) => line !== '');
}

function sample(lab: TestNetns): void {
  track(lab, ...UDP, '--sport', '1000', '--dport', '53', '-m', '5');
  track(lab, ...UDP, '--sport', '1001', '--dport', '54');
  track(lab, ...UDP, '--sport', '1000', '--dport', '53', '-w', '7');
  track(lab, ...UDP, '--sport', '1002', '--dport', '53', '--dst-nat', '10.5.5.5:5353');
  track(
    lab,
    '-p',
    'icmp',
    '-s',
    '1.1.1.1',
    '-d',
    '2.2.2.2',
    '-t',
    '50',
    '--icmp-type',
    '8',
    '--icmp-code',
    '0',
    '--icmp-id',
    '7',
  );
  track(
    lab,
    '-p',
    'tcp',
    '-s',
    'fd00::1',
    '-d',
    'fd00::2',
    '--sport',
    '1',
    '--dport',
    '80',
    '-t',
    '100',
    '--state',
    'ESTABLISHED',
  );
}

test('flows are listed as conntrack lists them', async () => {
  using lab = new TestNetns();
  sample(lab);
  const flows = await lab.session.conntrack.list();
  const lines = tracked(lab);
  assert.equal(flows.length, 6);
  assert.equal(lines.length, 6);
  for (const flow of flows) {
    const { src, dst, sport, dport } = flow.original;
    const ports = sport === undefined ? ' ' : ` sport=${sport} dport=${dport} `;
    const zone = flow.zone === 0 ? '' : ` zone=${flow.zone}`;
    const line = only(
      lines.filter(
        (each) =>
          each.includes(` src=${src} dst=${dst}${ports}`) &&
          (zone === '' ? !each.includes('zone') : each.includes(zone)),
      ),
    );
    assert.ok(line.includes(`mark=${flow.mark}${zone} `), line);
    assert.match(line, new RegExp(`^\\w+ +${flow.protocol} `));
    assert.ok(line.includes(`src=${flow.reply.src} dst=${flow.reply.dst}`), line);
  }
  const translated = only(flows.filter(({ status }) => (status & IPS.DST_NAT) !== 0));
  assert.equal(`${translated.reply.src}:${translated.reply.sport}`, '10.5.5.5:5353');
});

test('a filter gives the same flows as picking them from all', async () => {
  using lab = new TestNetns();
  sample(lab);
  const { conntrack } = lab.session;
  const counts = [
    [{ family: 4 }, 5],
    [{ family: 6 }, 1],
    [{ protocol: 17 }, 4],
    [{ family: 4, protocol: 17, original: { dport: 53 } }, 3],
    [{ family: 4, protocol: 17, original: { dst: Addr.parse('10.0.0.2'), sport: 1001 } }, 1],
    [{ family: 4, protocol: 17, reply: { src: Addr.parse('10.5.5.5') } }, 1],
    [{ family: 4, reply: { sport: 5353 } }, 1],
    [{ family: 4, zone: 7 }, 1],
    [{ family: 4, protocol: 17, zone: 7 }, 1],
    [{ mark: { value: 5 } }, 1],
    [{ mark: { value: 4, mask: 4 } }, 1],
    [{ family: 6, protocol: 6, original: { dst: Addr.parse('fd00::2') } }, 1],
    [{ family: 6, original: { src: Addr.parse('fd00::2') } }, 0],
    [{ family: 4, protocol: 1 }, 1],
  ] as const;
  for (const [filter, count] of counts) {
    assert.equal((await conntrack.list(filter)).length, count, JSON.stringify(filter));
  }
});

test('a flow is deleted once, and never in place of a later one', async () => {
  using lab = new TestNetns();
  const { conntrack } = lab.session;
  sample(lab);
  const [flow, ...others] = await conntrack.list({ protocol: 17 });
  assert.ok(flow !== undefined);
  await conntrack.delete(flow);
  assert.equal(tracked(lab).length, 5);
  await assert.rejects(conntrack.delete(flow), {
    errno: 'ENOENT',
    message: /^delete flow 17 10\.0\.0\.1:\d+ to 10\.0\.0\.2:\d+: ENOENT/,
  });
  for (const other of others)
    await assert.rejects(conntrack.delete({ ...other, id: other.id ^ 1 }), { errno: 'ENOENT' });
  assert.equal(tracked(lab).length, 5);
});

test('matching flows are deleted, those that ended meanwhile are not counted', async () => {
  using lab = new TestNetns();
  const { conntrack } = lab.session;
  sample(lab);
  const seen: Flow[] = [];
  const note = (flow: Flow) => {
    if (seen.length === 0) lab.run('conntrack', '-D', '-p', 'udp', '--sport', '1001');
    seen.push(flow);
    return flow.zone === 0;
  };
  assert.equal(await conntrack.deleteMatching(note, { family: 4, protocol: 17 }), 2);
  assert.equal(seen.length, 4);
  assert.equal(tracked(lab).length, 3);
  assert.equal(await conntrack.deleteMatching(() => true), 3);
  assert.equal(await conntrack.deleteMatching(() => true), 0);
  assert.deepEqual(tracked(lab), []);
});

test('two thousand flows go at once', async () => {
  using lab = new TestNetns('threaded');
  const script = Array.from(
    { length: 2000 },
    (_, n) => `-I ${UDP.join(' ')} --sport ${1 + n} --dport 9`,
  ).join('\n');
  lab.run('sh', '-c', `conntrack --load-file - <<'END'\n${script}\nEND`);
  assert.equal(await lab.session.conntrack.deleteMatching(({ original }) => original.dport === 9), 2000);
  assert.deepEqual(await lab.session.conntrack.list(), []);
});
