import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encode, i32, Writer } from '@heddle/wire';
import { NetlinkClient } from '../core/client.ts';
import { NLM_F, NLMSG, nlmsghdr } from '../core/header.ts';
import { encodeMessage, type Framed, readMessages } from '../core/message.ts';
import { add, chain, create, delete_, destroy, element, set, table } from './changes.ts';
import { elementsMessage } from './codec/element.ts';
import { NFNL_MSG_BATCH, NFT_MSG, nftType } from './codec/nfgenmsg.ts';
import { setMessage } from './codec/set.ts';
import { Nft } from './nft.ts';

const ENOENT = 2;
const EEXIST = 17;
const T = { family: 'inet', table: 't' } as const;
const PORTS = set({ ...T, name: 'ports', key: 'inet_service' });

type Answer = (message: Framed) => readonly Uint8Array[];

/** An Nft over a kernel of our own: each message of each request is put to `answer`. */
function scripted(answer: Answer): { readonly nft: Nft; readonly requests: readonly (readonly Framed[])[] } {
  const requests: (readonly Framed[])[] = [];
  const exchange = async (request: Uint8Array) => {
    const messages = readMessages(request);
    requests.push(messages);
    return messages.flatMap((message) => [...answer(message)]);
  };
  const client = new NetlinkClient({ exchange, [Symbol.dispose]: () => undefined });
  return { nft: new Nft(client), requests };
}

/** NLMSG_ERROR, capped, as the kernel sends it to a socket without extended acknowledgements. */
function refusal({ header }: Framed, errnum: number): Uint8Array {
  const writer = new Writer();
  i32.write(writer, -errnum);
  nlmsghdr.write(writer, header);
  const { sequence } = header;
  return encodeMessage({ type: NLMSG.ERROR, flags: NLM_F.CAPPED, sequence, body: writer.finish() });
}

function reply({ header }: Framed, message: number, body: Uint8Array): Uint8Array {
  return encodeMessage({ type: nftType(message), flags: NLM_F.MULTI, sequence: header.sequence, body });
}

function done({ header }: Framed): Uint8Array {
  return encodeMessage({ type: NLMSG.DONE, flags: 0, sequence: header.sequence, body: encode(i32, 0) });
}

function setReply(request: Framed, generation: number): readonly Uint8Array[] {
  const attributes = { table: 't', name: 'ports', keyType: 13, keyLength: 2, flags: 0 };
  const body = encode(setMessage, { family: 'inet', resource: generation, attributes });
  return [reply(request, NFT_MSG.NEWSET, body), refusal(request, 0)];
}

function elementsReply(request: Framed, generation: number, ports: readonly number[]): readonly Uint8Array[] {
  const elements = ports.map((port) => ({ key: { value: Uint8Array.of(port >> 8, port & 255) } }));
  const attributes = { table: 't', set: 'ports', elements };
  const body = encode(elementsMessage, { family: 'inet', resource: generation, attributes });
  return [reply(request, NFT_MSG.NEWSETELEM, body), done(request)];
}

const typeOf = ({ header }: Framed) => header.type;
const port = (key: number) => element({ ...T, set: PORTS, key });

describe('a commit', () => {
  test('is one batch, whose last change is acknowledged', async () => {
    const { nft, requests } = scripted(() => []);
    await nft.commit([add(table({ family: 'inet', name: 't' })), add(PORTS), add(port(80)), add(port(81))]);
    const [batch, ...others] = requests;
    assert.deepEqual(others, []);
    assert.deepEqual(batch?.map(typeOf), [
      NFNL_MSG_BATCH.BEGIN,
      nftType(NFT_MSG.NEWTABLE),
      nftType(NFT_MSG.NEWSET),
      nftType(NFT_MSG.NEWSETELEM),
      NFNL_MSG_BATCH.END,
    ]);
    const acknowledged = batch?.map(({ header }) => (header.flags & NLM_F.ACK) !== 0);
    assert.deepEqual(acknowledged, [false, false, false, true, false]);
  });

  test('without changes asks nothing of the kernel', async () => {
    const { nft, requests } = scripted(() => []);
    await nft.commit([]);
    assert.deepEqual(requests, []);
  });

  test('names the first change that was refused', async () => {
    const { nft } = scripted((message) => (typeOf(message) < 0xa00 ? [] : [refusal(message, EEXIST)]));
    const changes = [create(table({ family: 'ip', name: 'a' })), create(chain({ ...T, name: 'c' }))];
    await assert.rejects(nft.commit(changes), { errno: 'EEXIST', message: 'create table ip a: EEXIST' });
  });

  test('asks for the types of a set once, and only where they are not given', async () => {
    const { nft, requests } = scripted((message) =>
      typeOf(message) === nftType(NFT_MSG.GETSET) ? setReply(message, 1) : [],
    );
    const named = (key: number) => element({ ...T, set: 'ports', key });
    await nft.commit([add(named(1)), add(named(2)), delete_(named(3))]);
    assert.deepEqual(
      requests.map((messages) => messages.map(typeOf).filter((type) => type >= 0xa00)),
      [[nftType(NFT_MSG.GETSET)], [nftType(NFT_MSG.NEWSETELEM), nftType(NFT_MSG.DELSETELEM)]],
    );
  });

  test('leaves out what it was to destroy and is not there, on kernels that do not say which', async () => {
    let batches = 0;
    const { nft } = scripted((message) => {
      switch (typeOf(message)) {
        case nftType(NFT_MSG.GETSETELEM):
          return elementsReply(message, 1, [2]);
        case nftType(NFT_MSG.GETSET):
          return setReply(message, 1);
        case NFNL_MSG_BATCH.BEGIN:
          batches++;
          return [];
        case nftType(NFT_MSG.DELSETELEM):
          return batches === 1 ? [refusal(message, ENOENT)] : [];
        case nftType(NFT_MSG.DELCHAIN):
          return batches <= 2 ? [refusal(message, ENOENT)] : [];
        default:
          return [];
      }
    });
    await nft.commit([
      destroy(port(1)),
      destroy(port(2)),
      destroy(port(3)),
      destroy(chain({ ...T, name: 'c' })),
      add(port(9)),
    ]);
    assert.equal(batches, 3);
  });

  test('does not take a refused deletion for one that was in vain', async () => {
    const { nft } = scripted((message) =>
      typeOf(message) === nftType(NFT_MSG.DELCHAIN) ? [refusal(message, ENOENT)] : [],
    );
    await assert.rejects(nft.commit([delete_(chain({ ...T, name: 'c' }))]), {
      message: 'delete chain inet t c: ENOENT',
    });
  });
});

describe('a listing of elements', () => {
  test('is repeated when the ruleset changed between the set and its elements', async () => {
    const generations = [1, 2, 3, 3];
    const { nft, requests } = scripted((message) => {
      const generation = generations.shift() ?? 0;
      return typeOf(message) === nftType(NFT_MSG.GETSET)
        ? setReply(message, generation)
        : elementsReply(message, generation, [generation]);
    });
    const elements = await nft.elements({ ...T, set: 'ports' });
    assert.deepEqual(
      elements.map(({ key }) => key),
      [3],
    );
    assert.equal(requests.length, 4);
  });

  test('ends with what there is when the ruleset never stands still', async () => {
    let generation = 0;
    const { nft } = scripted((message) =>
      typeOf(message) === nftType(NFT_MSG.GETSET)
        ? setReply(message, ++generation)
        : elementsReply(message, ++generation, [7]),
    );
    const elements = await nft.elements({ ...T, set: 'ports' });
    assert.equal(elements.length, 1);
  });

  test('is empty for a set that is not there, and fails for any other reason', async () => {
    const { nft } = scripted((message) => [refusal(message, ENOENT)]);
    assert.deepEqual(await nft.elements({ ...T, set: 'ports' }), []);
    const broken = scripted((message) => [refusal(message, 1)]);
    await assert.rejects(broken.nft.elements({ ...T, set: 'ports' }), {
      message: 'get set inet t ports: EPERM',
    });
    await assert.rejects(broken.nft.tables(), { message: 'list tables: EPERM' });
  });
});
