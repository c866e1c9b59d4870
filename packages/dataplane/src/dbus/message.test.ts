import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WireError } from '@heddle/wire';
import fc from 'fast-check';
import {
  type DBusMessage,
  decodeMessage,
  encodeMessage,
  MESSAGE_TYPE,
  messageLength,
  START_SIZE,
} from './message.ts';
import { boolean, byte, objectPath, signature, string, uint32, type Variant } from './types.ts';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'));

/** dbus-send --system --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus.NameHasOwner string:org.fedoraproject.FirewallD1 */
const CALL = bytes(`
  6c01000121000000020000007f00000001016f00150000002f6f72672f667265656465736b746f702f444275730000000201730014000000
  6f72672e667265656465736b746f702e44427573000000000301730 00c0000004e616d654861734f776e6572000000000601730014000000
  6f72672e667265656465736b746f702e4442757300000000080167000173 00001c0000006f72672e6665646f726170726f6a6563742e4669
  726577616c6c443100`);
/** What dbus-daemon 1.14 answered. */
const REPLY = bytes(`
  6c02010104000000030000003d00000006017300040000003a312e3000000000050175000200000008016700016200000701730014000000
  6f72672e667265656465736b746f702e444275730000000000000000`);
/** What it had sent before. */
const SIGNAL = bytes(`
  6c04010109000000020000008d00000001016f00150000002f6f72672f667265656465736b746f702f444275730000000201730014000000
  6f72672e667265656465736b746f702e4442757300000000030173000c0000004e616d654163717569726564000000000601730004000000
  3a312e30000000000801670001730000070173001400 00006f72672e667265656465736b746f702e444275730000000004000000
  3a312e3000`);

describe('a message', () => {
  test('is written as dbus-send does', () => {
    const message: DBusMessage = {
      ...{
        type: MESSAGE_TYPE.call,
        serial: 2,
        path: '/org/freedesktop/DBus',
        interface: 'org.freedesktop.DBus',
      },
      ...{ member: 'NameHasOwner', destination: 'org.freedesktop.DBus' },
      body: [{ type: string, value: 'org.fedoraproject.FirewallD1' }],
    };
    assert.deepEqual(encodeMessage(message), CALL);
  });

  test('is read as dbus-daemon sends it', () => {
    assert.deepEqual(decodeMessage(REPLY), {
      ...{
        type: MESSAGE_TYPE.reply,
        serial: 3,
        replyTo: 2,
        destination: ':1.0',
        sender: 'org.freedesktop.DBus',
      },
      body: [false],
    });
    const { type, member, body } = decodeMessage(SIGNAL);
    assert.deepEqual(
      { type, member, body },
      { type: MESSAGE_TYPE.signal, member: 'NameAcquired', body: [':1.0'] },
    );
  });

  test('tells its length by its beginning', () => {
    for (const each of [CALL, REPLY, SIGNAL]) {
      assert.equal(messageLength(each.subarray(0, START_SIZE)), each.length);
    }
  });

  test('that is cut short is none', () => {
    for (let size = 0; size < SIGNAL.length; size++) {
      assert.throws(() => decodeMessage(SIGNAL.subarray(0, size)), WireError);
    }
  });

  test('of another byte order, or without end, is refused', () => {
    for (const start of ['42', '6c010001ffffffff', '6c0100010000000001000000ffffffff']) {
      const whole = new Uint8Array(START_SIZE);
      whole.set(bytes(start));
      assert.throws(() => messageLength(whole), WireError);
    }
  });

  test('of any basic values goes there and back', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
    const value: fc.Arbitrary<Variant> = fc.oneof(
      text.map((value) => ({ type: string, value })),
      fc.nat(255).map((value) => ({ type: byte, value })),
      fc.nat(0xffff_ffff).map((value) => ({ type: uint32, value })),
      fc.boolean().map((value) => ({ type: boolean, value })),
      fc.constantFrom('/', '/a/b').map((value) => ({ type: objectPath, value })),
      fc.constantFrom('', 'a{sv}').map((value) => ({ type: signature, value })),
    );
    const message = fc.record(
      {
        type: fc.nat(255),
        serial: fc.nat(0xffff_ffff),
        member: text,
        replyTo: fc.nat(),
        body: fc.array(value, { maxLength: 20 }),
      },
      { requiredKeys: ['type', 'serial', 'body'] },
    );
    fc.assert(
      fc.property(message, (sent) => {
        const encoded = encodeMessage(sent);
        assert.equal(messageLength(encoded.subarray(0, START_SIZE)), encoded.length);
        assert.deepEqual(decodeMessage(encoded), { ...sent, body: sent.body.map(({ value }) => value) });
      }),
    );
  });
});
