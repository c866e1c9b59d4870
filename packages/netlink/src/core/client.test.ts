import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ErrorList } from '@heddle/errors';
import { SysError } from '@heddle/sys';
import { encode, i32, Writer } from '@heddle/wire';
import { extendedAck, nlmsgerr } from './acknowledgement.ts';
import { NetlinkClient } from './client.ts';
import { NLM_F, NLMSG } from './header.ts';
import { type Framed, readMessages, writeMessage } from './message.ts';
import { NetlinkError } from './netlink-error.ts';
import type { Transport } from './transport.ts';

type Sent = Omit<Parameters<typeof writeMessage>[1], 'sequence'> & { readonly sequence?: number };
type Answer = (requests: readonly Framed[]) => readonly (readonly Sent[])[];

/** A transport that answers each exchange by the next of the functions, and keeps what was asked. */
function scripted(...answers: readonly Answer[]) {
  const asked: Framed[][] = [];
  let recovered = 0;
  const transport: Transport = {
    async exchange(request) {
      const requests = [...readMessages(request)];
      asked.push(requests);
      const answer = answers[asked.length - 1];
      assert.ok(answer, 'one exchange too many');
      return answer(requests).map((messages) => {
        const writer = new Writer();
        for (const message of messages) {
          writeMessage(writer, { sequence: requests[0]?.header.sequence ?? 0, ...message });
        }
        return writer.finish();
      });
    },
    recover() {
      recovered++;
    },
    [Symbol.dispose]() {},
  };
  return { client: new NetlinkClient(transport), asked, recovered: () => recovered };
}

const ack = (sequence?: number, errnum = 0): Sent => ({
  type: NLMSG.ERROR,
  flags: NLM_F.CAPPED,
  ...(sequence !== undefined && { sequence }),
  body: encode(nlmsgerr, { error: -errnum, request: {} }),
});
const entry = (byte: number, flags: number = NLM_F.MULTI): Sent => ({
  type: 16,
  flags,
  body: Uint8Array.of(byte, 0, 0, 0),
});
const done = (flags = 0, error = 0): Sent => ({ type: NLMSG.DONE, flags, body: encode(i32, error) });
const ask = (operation = 'ask') => ({ type: 18, body: new Uint8Array(4), operation });
const bytesOf = (replies: readonly { readonly body: Uint8Array }[]) => replies.map(({ body }) => body[0]);

test('a request asks for an acknowledgement and gives the other replies', async () => {
  const { client, asked } = scripted(() => [[entry(1, 0)], [ack()]]);
  assert.deepEqual(bytesOf(await client.request({ ...ask(), flags: NLM_F.CREATE })), [1]);
  assert.equal(asked[0]?.[0]?.header.flags, NLM_F.REQUEST | NLM_F.ACK | NLM_F.CREATE);
});

test('a refusal says what was asked, the errno and what the kernel says', async () => {
  const { client } = scripted(() => [
    [
      {
        type: NLMSG.ERROR,
        flags: NLM_F.CAPPED | NLM_F.ACK_TLVS,
        body: Uint8Array.of(
          ...encode(nlmsgerr, { error: -17, request: { length: 999 } }),
          ...encode(extendedAck, { message: 'Already there', offset: 36 }),
        ),
      },
    ],
  ]);
  await assert.rejects(client.request(ask('add link x')), (error) => {
    assert.ok(error instanceof NetlinkError);
    assert.equal(error.message, 'add link x: EEXIST (kernel: Already there)');
    assert.deepEqual([error.errno, error.errnum, error.code], ['EEXIST', 17, 'NETLINK']);
    assert.deepEqual(error.extAck, { message: 'Already there', offset: 36 });
    assert.ok(NetlinkError.is(error, 'ENODEV', 'EEXIST'));
    assert.ok(!NetlinkError.is(error, 'ENODEV'));
    return true;
  });
});

test('a refusal that repeats the request carries its explanation behind it', async () => {
  const request = { length: 16 + 6 };
  const { client } = scripted(() => [
    [
      {
        type: NLMSG.ERROR,
        flags: NLM_F.ACK_TLVS,
        body: Uint8Array.of(
          ...encode(nlmsgerr, { error: -22, request }),
          ...new Uint8Array(8),
          ...encode(extendedAck, { message: 'Wrong' }),
        ),
      },
    ],
  ]);
  await assert.rejects(client.request(ask()), /^NetlinkError: ask: EINVAL \(kernel: Wrong\)$/);
});

test('answers to something else are passed over', async () => {
  const { client } = scripted((requests) => {
    const sequence = (requests[0]?.header.sequence ?? 0) + 7;
    return [[{ ...entry(9), sequence }, ack(sequence, 5), entry(1), ack()]];
  });
  assert.deepEqual(bytesOf(await client.request(ask())), [1]);
});

test('a request that nothing answers is an error, not silence', async () => {
  const { client } = scripted(
    () => [],
    () => [[entry(1)]],
  );
  await assert.rejects(client.request(ask('get it')), /get it, which was not answered: EPROTO/);
  await assert.rejects(client.dump(ask('list them')), /list them, which was not answered: EPROTO/);
});

test('a dump is put together from its parts', async () => {
  const { client, asked } = scripted(() => [[entry(1), entry(2)], [entry(3)], [done()]]);
  const found = await client.dump(ask());
  assert.deepEqual(bytesOf(found), [1, 2, 3]);
  assert.equal(found.interrupted, false);
  assert.equal(asked[0]?.[0]?.header.flags, NLM_F.REQUEST | NLM_F.DUMP);
});

test('a dump that fails at its end is an error', async () => {
  const { client } = scripted(() => [[entry(1)], [done(0, -2)]]);
  await assert.rejects(client.dump(ask('list')), (error) => NetlinkError.is(error, 'ENOENT'));
});

test('a dump during which the table changed is asked for again', async () => {
  const { client, asked } = scripted(
    () => [[entry(1), entry(2, NLM_F.MULTI | NLM_F.DUMP_INTR)], [done()]],
    () => [[entry(1)], [done(NLM_F.DUMP_INTR)]],
    () => [[entry(1), entry(3)], [done()]],
  );
  assert.deepEqual(bytesOf(await client.dump(ask())), [1, 3]);
  assert.equal(asked.length, 3);
});

test('after five interruptions the dump is used, and marked', async () => {
  const answer: Answer = () => [[entry(1)], [done(NLM_F.DUMP_INTR)]];
  const { client } = scripted(answer, answer, answer, answer, answer);
  const found = await client.dump(ask());
  assert.deepEqual(bytesOf(found), [1]);
  assert.equal(found.interrupted, true);
});

test('a dump for which the buffer was too small is repeated with more room', async () => {
  const { client, recovered } = scripted(
    () => {
      throw new SysError({ syscall: 'recv', errnum: 105 });
    },
    () => [[entry(1)], [done()]],
  );
  assert.deepEqual(bytesOf(await client.dump(ask())), [1]);
  assert.equal(recovered(), 1);
});

test('a request whose answer was lost is not repeated', async () => {
  const { client, asked } = scripted(() => {
    throw new SysError({ syscall: 'recv', errnum: 105 });
  });
  await assert.rejects(client.request(ask()), (error) => SysError.is(error, 'ENOBUFS'));
  assert.equal(asked.length, 1);
});

test('a batch is one send, each message acknowledged; all refusals are reported', async () => {
  const { client, asked } = scripted((requests) => [
    requests.map(({ header }, index) => ack(header.sequence, index === 0 ? 0 : 17)),
  ]);
  await assert.rejects(client.batch([ask('a'), ask('b'), ask('c')]), (error) => {
    assert.ok(error instanceof ErrorList);
    assert.equal(error.message, '2 of 3 changes: b: EEXIST; c: EEXIST');
    return true;
  });
  assert.equal(asked.length, 1);
});

test('the only refusal of a batch is thrown as it is', async () => {
  const { client } = scripted(([a, b]) => [[ack(a?.header.sequence), ack(b?.header.sequence, 1)]]);
  await assert.rejects(client.batch([ask('a'), ask('b')]), /^NetlinkError: b: EPERM$/);
});

test('a large batch goes in several sends, with no number used twice', async () => {
  const everyone: Answer = (requests) => [requests.map(({ header }) => ack(header.sequence))];
  const { client, asked } = scripted(everyone, everyone, everyone);
  await client.batch(Array.from({ length: 1200 }, () => ask()));
  const numbers = asked.flatMap((requests) => requests.map(({ header }) => header.sequence));
  assert.deepEqual(
    asked.map((requests) => requests.length),
    [500, 500, 200],
  );
  assert.equal(new Set(numbers).size, 1200);
});

test('an empty batch sends nothing', async () => {
  const { client, asked } = scripted();
  await client.batch([]);
  assert.equal(asked.length, 0);
});

test('a transaction succeeds in silence and fails by its first refusal', async () => {
  const { client, asked } = scripted(
    () => [],
    ([, b, c]) => [[ack(c?.header.sequence, 2)], [ack(b?.header.sequence, 17)]],
    ([, b]) => [[{ ...entry(4), sequence: b?.header.sequence ?? 0 }]],
  );
  const messages = [ask('begin'), ask('b'), ask('c')];
  assert.deepEqual(await client.transaction(messages), []);
  await assert.rejects(client.transaction(messages), /^NetlinkError: b: EEXIST$/);
  assert.deepEqual(bytesOf(await client.transaction(messages)), [4]);
  assert.equal(asked[0]?.[0]?.header.flags, NLM_F.REQUEST);
});
