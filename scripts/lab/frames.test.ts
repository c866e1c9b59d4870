import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type Frame, FrameReader } from './frames.ts';

const frame = fc
  .tuple(fc.nat(255), fc.uint8Array({ maxLength: 300 }))
  .map(([channel, bytes]): Frame => ({ channel, bytes: Buffer.from(bytes) }));

function written({ channel, bytes }: Frame): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(channel);
  head.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

test('frames are found in pieces of any length, each when its last byte is there', () => {
  fc.assert(
    fc.property(fc.array(frame), fc.infiniteStream(fc.integer({ min: 1, max: 200 })), (sent, lengths) => {
      const stream = Buffer.concat(sent.map(written));
      const reader = new FrameReader();
      const received: Frame[] = [];
      for (let at = 0; at < stream.length; ) {
        const end = at + (lengths.next().value ?? 1);
        received.push(...reader.read(stream.subarray(at, end)));
        at = end;
      }
      assert.deepEqual(received, sent);
    }),
  );
});
