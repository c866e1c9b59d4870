import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { askMetrics, askStatus, listenForMetrics, METRICS, parseListenAddress } from '@heddle/agent';
import { CniError } from '@heddle/cni';
import { poolUse } from '../../packages/cli/src/agent/pools.ts';
import { AgentLab, plugin } from './agent-lab.ts';

const env = { CNI_NETNS: '/run/netns/nowhere' };

/** An agent after two ADDs, a DEL that failed, and a call that it declined. */
async function busyAgent(lab: AgentLab) {
  const agent = await lab.agent(
    [
      plugin({
        async add(call) {
          await call.host.links.list();
          return { cniVersion: '1.1.0' };
        },
        async del() {
          throw new CniError(11, 'not now');
        },
      }),
    ],
    { pools: () => [{ network: 'a"b\\c\nd', family: 4, used: 3, size: 250 }] },
  );
  await lab.call({ env });
  await lab.call({ env: { ...env, CNI_CONTAINERID: 'c2' } });
  await lab.call({ command: 'DEL' });
  await lab.call({ type: 'host-local', env });
  await lab.call({ command: 'NONSENSE', env });
  return agent;
}

test('metrics count calls, their steps, errors and refusals, by plugin', async () => {
  await using lab = new AgentLab();
  await busyAgent(lab);
  const text = await askMetrics(lab.socket);
  const value = (series: string) => {
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  assert.equal(value('heddle_call_seconds_count{command="ADD",plugin="bridge"}'), 2);
  assert.equal(value('heddle_call_seconds_bucket{command="ADD",plugin="bridge",le="+Inf"}'), 2);
  assert.equal(value('heddle_call_seconds_count{command="other",plugin="bridge"}'), 1);
  assert.equal(value('heddle_call_step_seconds_count{command="ADD",plugin="bridge",step="kernel"}'), 2);
  assert.equal(value('heddle_call_step_seconds_count{command="ADD",plugin="bridge",step="turn"}'), 2);
  const kernel = value('heddle_call_step_seconds_sum{command="ADD",plugin="bridge",step="kernel"}') ?? 0;
  const whole = value('heddle_call_seconds_sum{command="ADD",plugin="bridge"}') ?? 0;
  assert.ok(kernel > 0 && kernel < whole, `${kernel} of ${whole} s`);
  assert.equal(value('heddle_call_errors_total{command="DEL",plugin="bridge",code="11"}'), 1);
  assert.equal(value('heddle_declined_total{reason="plugin"}'), 1);
  assert.equal(value('heddle_pool_addresses_used{network="a\\"b\\\\c\\nd",family="4"}'), 3);
  assert.equal(value('heddle_pool_addresses{network="a\\"b\\\\c\\nd",family="4"}'), 250);
  assert.equal(value('heddle_clients'), 1);
  assert.ok((value('process_resident_memory_bytes') ?? 0) > 1_000_000);
  // Each metric is introduced once, before its samples.
  const introduced = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  assert.deepEqual(introduced, [...new Set(introduced)]);
  const known = METRICS.map(({ name, type }) => `${name} ${type}`);
  assert.deepEqual(
    introduced.filter((each) => !known.includes(each)),
    [],
  );
});

test('the status has the same by command and plugin, with how long they took', async () => {
  await using lab = new AgentLab();
  await busyAgent(lab);
  const { calls, errors, socket } = await askStatus(lab.socket);
  assert.equal(socket, lab.socket);
  const add = calls['ADD']?.plugins['bridge'];
  assert.ok(add !== undefined && add.p50 > 0 && add.p99 >= add.p50, JSON.stringify(add));
  assert.partialDeepStrictEqual(calls['DEL'], { done: 1, failed: 1 });
  assert.equal(errors['11'], 1);
});

for (const where of ['127.0.0.1:0', '[::1]:0', 'socket']) {
  test(`metrics are served over HTTP at ${where}`, async () => {
    await using lab = new AgentLab();
    const agent = await busyAgent(lab);
    const path = join(lab.directory, 'metrics.sock');
    const address = parseListenAddress(where === 'socket' ? path : where);
    await using listener = await listenForMetrics(address, () => agent.metrics());
    const ask = (url: string, method = 'GET') => fetchFrom(listener.address, url, method);
    const { status, type, body } = await ask('/metrics');
    assert.equal(status, 200);
    assert.equal(type, 'text/plain; version=0.0.4; charset=utf-8');
    assert.match(body, /^heddle_agent_info\{version="test"\} 1$/m);
    assert.partialDeepStrictEqual(await ask('/healthz'), { status: 200, body: 'ok\n' });
    assert.equal((await ask('/')).status, 404);
    assert.equal((await ask('/metrics', 'POST')).status, 405);
    if (where === 'socket') assert.equal(statSync(path).mode & 0o777, 0o600);
  });
}

test('callers in the queue of the socket are counted', async (context) => {
  await using lab = new AgentLab();
  const gate = Promise.withResolvers<void>();
  const slow = plugin({
    async add() {
      await gate.promise;
      return { cniVersion: '1.1.0' };
    },
  });
  const agent = await lab.agent([slow], { limits: { clients: 1 } });
  const calls = [1, 2, 3, 4].map((id) => lab.start({ env: { ...env, CNI_CONTAINERID: `c${id}` } }).ended);
  let status = await agent.status();
  if (status.waitingCallers === null) context.skip('this kernel has no unix_diag');
  while (status.waitingCallers !== null && status.waitingCallers < 3) {
    await new Promise(setImmediate);
    status = await agent.status();
  }
  gate.resolve();
  await Promise.all(calls);
  if (status.waitingCallers !== null) assert.equal((await agent.status()).waitingCallers, 0);
});

test('metrics that cannot be told are an answer', async () => {
  const fail = () => Promise.reject(new Error('no such directory'));
  await using listener = await listenForMetrics(parseListenAddress('127.0.0.1:0'), fail);
  const { status, body } = await fetchFrom(listener.address, '/metrics');
  assert.deepEqual({ status, body }, { status: 500, body: 'no such directory\n' });
});

test('a new agent listens at the place of an old one, which leaves it there', async () => {
  await using lab = new AgentLab();
  const path = join(lab.directory, 'metrics.sock');
  const old = await listenForMetrics({ path }, async () => 'old');
  await using _young = await listenForMetrics({ path }, async () => 'young');
  await old[Symbol.asyncDispose]();
  assert.equal((await fetchFrom(path, '/metrics')).body, 'young');
});

test('how full pools are is read from configurations and reservations', async () => {
  await using lab = new AgentLab();
  const [configDir, reservationDir] = [join(lab.directory, 'net.d'), join(lab.directory, 'networks')];
  const dataDir = join(lab.directory, 'elsewhere');
  mkdirSync(configDir);
  const ranges = [[{ subnet: '10.1.2.0/24' }], [{ subnet: 'fd00::/120' }], [{ subnet: '10.1.3.0/30' }]];
  const list = {
    cniVersion: '1.1.0',
    name: 'pods',
    plugins: [{ type: 'bridge', ipam: { type: 'host-local', dataDir, ranges } }],
  };
  writeFileSync(join(configDir, '1.conflist'), JSON.stringify(list));
  const hold = (directory: string, ...names: readonly string[]) => {
    mkdirSync(directory, { recursive: true });
    for (const name of names) writeFileSync(join(directory, name), 'c1\r\neth0');
  };
  hold(join(dataDir, 'pods'), '10.1.2.5', '10.1.3.2', 'fd00::5', 'lock', 'last_reserved_ip.0', '192.0.2.1');
  hold(join(reservationDir, 'gone'), '10.9.9.9');
  assert.deepEqual(poolUse({ configDir, reservationDir }), [
    { network: 'pods', family: 4, used: 2, size: 254 },
    { network: 'pods', family: 6, used: 1, size: 254 },
    { network: 'gone', family: 4, used: 1 },
  ]);
});

test('docs/agent.md has a table of all metrics', () => {
  const page = readFileSync('docs/agent.md', 'utf8');
  const rows = METRICS.map(({ name, type, labels, help }) => {
    const names = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${names} | ${help} |`;
  });
  assert.ok(page.includes(rows.join('\n')), `it should have\n${rows.join('\n')}`);
});

async function fetchFrom(address: string, path: string, method = 'GET') {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    type: string;
    body: string;
  }>();
  const where = address.startsWith('/') ? { socketPath: address } : new URL(`http://${address}`);
  const options =
    where instanceof URL ? { host: where.hostname.replace(/[[\]]/g, ''), port: where.port } : where;
  const request = get({ ...options, path, method, agent: false }, (response) => {
    let body = '';
    response.setEncoding('utf8');
    response.on('data', (text) => (body += text));
    response.on('end', () => {
      resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body });
    });
  });
  request.on('error', reject);
  return await promise;
}
