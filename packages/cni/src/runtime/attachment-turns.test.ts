import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { encode } from '@heddle/wire';
import { AttachmentTurns, DelQueue, handoverHeader, readHandover } from './index.ts';

const attachment = { network: 'n1', containerID: 'c1', ifName: 'eth0' };
const operation = { type: 'bridge', command: 'DEL', attachment } as const;

test('a second operation on an attachment waits, one on another does not', async (t) => {
  const turns = new AttachmentTurns({ directory: scratch(t) });
  const order: string[] = [];
  const first = await turns.take(operation);
  const second = turns.take(operation).then((turn) => {
    order.push('second');
    turn[Symbol.dispose]();
  });
  using _other = await turns.take({ ...operation, attachment: { ...attachment, ifName: 'eth1' } });
  order.push('other');
  first[Symbol.dispose]();
  await second;
  assert.deepEqual(order, ['other', 'second']);
});

test('a wait that is too long says for what, one that is cut off ends with the reason', async (t) => {
  const turns = new AttachmentTurns({ directory: scratch(t), patience: 50 });
  using _first = await turns.take(operation);
  await assert.rejects(turns.take(operation), {
    cniCode: 11,
    msg: 'DEL of n1/c1/eth0: another operation on it has not ended in 0.05 s',
  });
  const reason = new Error('gone');
  await assert.rejects(turns.take(operation, AbortSignal.abort(reason)), reason);
});

test('no file is left when nobody works', async (t) => {
  const directory = scratch(t);
  const turn = await new AttachmentTurns({ directory }).take(operation);
  assert.equal(readdirSync(directory).length, 1);
  turn[Symbol.dispose]();
  assert.deepEqual(readdirSync(directory), []);
});

test('an ADD voids the DELs of its plugin that wait for the same attachment, and no others', async (t) => {
  const directory = scratch(t);
  const queue = new DelQueue(directory);
  leave(directory, 'a', { type: 'bridge', network: 'n1', ifName: 'eth0' });
  leave(directory, 'b', { type: 'portmap', network: 'n1', ifName: 'eth0' });
  leave(directory, 'c', { type: 'bridge', network: 'n2', ifName: 'eth0' });
  leave(directory, 'd', { type: 'bridge', network: 'n1', ifName: 'eth1' });
  const turns = new AttachmentTurns({ directory: scratch(t), queue });
  (await turns.take(operation))[Symbol.dispose]();
  assert.equal(queue.read().dels.length, 4);
  (await turns.take({ ...operation, command: 'ADD' }))[Symbol.dispose]();
  assert.deepEqual(readdirSync(directory).toSorted(), ['b.del', 'c.del', 'd.del']);
});

test('waiting DELs are read in the order in which they came, and what is none is told', (t) => {
  const directory = scratch(t);
  for (const [index, type] of ['z', 'y', 'x'].entries()) {
    leave(directory, type, { type, network: 'n1', ifName: 'eth0', time: BigInt(index) });
  }
  writeFileSync(join(directory, 'w.del'), 'garbage');
  writeFileSync(join(directory, '.draft'), 'not yet');
  const { dels, broken } = new DelQueue(directory).read();
  assert.deepEqual(
    dels.map(({ call }) => call.type),
    ['z', 'y', 'x'],
  );
  assert.deepEqual(
    broken.map(({ path }) => path),
    [join(directory, 'w.del')],
  );
});

test('a handover says what was called, and how', () => {
  const call = readHandover(
    handover(['bridge', '/opt/cni/bin/x', 'A=1', 'A=2', 'B==', 'C'], '{}', {
      netnsDevice: 4n,
      netnsInode: 5n,
      time: 6n,
    }),
  );
  assert.deepEqual(
    { ...call, env: { ...call.env }, stdin: Buffer.from(call.stdin).toString() },
    {
      ...{ type: 'bridge', program: '/opt/cni/bin/x', flags: 0, netnsKey: '4:5', time: 6n, stdin: '{}' },
      env: { A: '1', B: '=' },
    },
  );
});

test('what is no handover is refused', () => {
  const good = handover(['bridge', '/x'], '{}');
  for (const bytes of [
    new Uint8Array(),
    new Uint8Array(48),
    good.subarray(0, -1),
    Buffer.concat([good, good]),
    handover(['bridge'], '', { version: 2 }),
    handover(['bridge'], '', { stdin: 1 << 30 }),
    handover(['bridge'], 'x', { head: 8, stdin: 0 }),
  ]) {
    assert.throws(() => readHandover(bytes), { code: 'HANDOVER_MALFORMED' });
  }
});

function handover(texts: readonly string[], stdin: string, header: object = {}): Uint8Array {
  const head = texts.map((text) => `${text}\0`).join('');
  const sizes = { head: Buffer.byteLength(head), stdin: Buffer.byteLength(stdin) };
  const begin = encode(handoverHeader, { magic: 0x31444548, version: 1, ...sizes, ...header });
  return Buffer.concat([begin, Buffer.from(head + stdin)]);
}

function leave(
  directory: string,
  name: string,
  { type, network, ifName, time = 0n }: { type: string; network: string; ifName: string; time?: bigint },
): void {
  const texts = [type, '/opt/cni/bin/x', 'CNI_CONTAINERID=c1', `CNI_IFNAME=${ifName}`];
  writeFileSync(join(directory, `${name}.del`), handover(texts, JSON.stringify({ name: network }), { time }));
}

function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-turns-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}
