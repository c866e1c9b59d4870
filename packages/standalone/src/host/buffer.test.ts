import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { Buffer as Ours } from './buffer.ts';
import type { Host } from './host.ts';

const bytes = fc.uint8Array({ maxLength: 40 });

describe('Buffer of the host', () => {
  before(() => {
    const text = {
      encode: (from: string) => new Uint8Array(Buffer.from(from)),
      decode: (from: Uint8Array) => Buffer.from(from).toString(),
    };
    globalThis.host = text as unknown as Host;
  });
  // The engine has these; not every Node.js does.
  const written = {
    toHex: { configurable: true, value: hex },
    toBase64: { configurable: true, value: base64 },
  };
  before(() => {
    Object.defineProperties(Uint8Array.prototype, written);
    const fromBase64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
    Object.defineProperty(Uint8Array, 'fromBase64', { configurable: true, value: fromBase64 });
  });
  after(() => {
    Reflect.deleteProperty(globalThis, 'host');
    for (const name of Object.keys(written)) Reflect.deleteProperty(Uint8Array.prototype, name);
    Reflect.deleteProperty(Uint8Array, 'fromBase64');
  });

  test('bytes and texts become each other as with Node.js', () => {
    fc.assert(
      fc.property(bytes, fc.nat(8), (from, start) => {
        const encoded = Buffer.from(from).toString('base64');
        for (const written of [
          encoded,
          encoded.replaceAll('=', ''),
          encoded.replaceAll('+', '-').replaceAll('/', '_'),
        ]) {
          assert.deepEqual([...Ours.from(written, 'base64')], [...Buffer.from(written, 'base64')]);
        }
        for (const encoding of ['hex', 'base64', 'latin1', 'utf8'] as const) {
          assert.equal(
            Ours.from(from).toString(encoding, start),
            Buffer.from(from).toString(encoding, start),
          );
        }
      }),
    );
  });

  test('bytes are compared, joined and searched as with Node.js', () => {
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        assert.equal(Ours.compare(one, other), Buffer.compare(one, other));
        assert.deepEqual([...Ours.concat([one, other])], [...Buffer.concat([one, other])]);
      }),
    );
    const line = 'OK 1234\r\nrest';
    assert.equal(Ours.from(line).indexOf('\r\n'), Buffer.from(line).indexOf('\r\n'));
    assert.equal(Ours.from(line).indexOf('\n\r'), -1);
  });
});

function hex(this: Uint8Array): string {
  return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('hex');
}

function base64(this: Uint8Array): string {
  return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('base64');
}
