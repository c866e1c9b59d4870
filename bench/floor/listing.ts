/** The messages of an exchange in words, with the kernel's names. */
import type { Exchange, Sent } from './trace.ts';

/** A Markdown list of the messages, those of one datagram together. */
export function listing({ sent }: Exchange): string {
  return sent
    .map((datagram, index) => {
      const messages = messagesOf(datagram).map((message) => `   - ${message}\n`);
      return `${index + 1}. ${datagram.where === 'host' ? 'node' : 'pod'}\n${messages.join('')}`;
    })
    .join('');
}

/** Types of rtnetlink messages, the size of the header after the message's own, and the names of their attributes. */
const MESSAGES: Readonly<
  Record<number, { name: string; header: number; attributes: readonly (string | undefined)[] }>
> = (() => {
  const link = {
    header: 16,
    attributes: attributes('IFLA_', {
      1: 'ADDRESS',
      3: 'IFNAME',
      4: 'MTU',
      10: 'MASTER',
      12: 'PROTINFO',
      18: 'LINKINFO',
      20: 'IFALIAS',
      26: 'AF_SPEC',
      27: 'GROUP',
      28: 'NET_NS_FD',
      29: 'EXT_MASK',
    }),
  };
  const address = {
    header: 8,
    attributes: attributes('IFA_', {
      1: 'ADDRESS',
      2: 'LOCAL',
      3: 'LABEL',
      4: 'BROADCAST',
      8: 'FLAGS',
      11: 'PROTO',
    }),
  };
  const route = {
    header: 12,
    attributes: attributes('RTA_', {
      1: 'DST',
      4: 'OIF',
      5: 'GATEWAY',
      6: 'PRIORITY',
      7: 'PREFSRC',
      15: 'TABLE',
    }),
  };
  const neighbour = { header: 12, attributes: attributes('NDA_', { 1: 'DST', 2: 'LLADDR', 12: 'PROTOCOL' }) };
  const all = [
    ...(['NEWLINK', 'DELLINK', 'GETLINK', 'SETLINK'] as const).map(
      (name, index) => [16 + index, name, link] as const,
    ),
    ...(['NEWADDR', 'DELADDR', 'GETADDR'] as const).map(
      (name, index) => [20 + index, name, address] as const,
    ),
    ...(['NEWROUTE', 'DELROUTE', 'GETROUTE'] as const).map(
      (name, index) => [24 + index, name, route] as const,
    ),
    ...(['NEWNEIGH', 'DELNEIGH', 'GETNEIGH'] as const).map(
      (name, index) => [28 + index, name, neighbour] as const,
    ),
  ];
  return Object.fromEntries(all.map(([type, name, body]) => [type, { name: `RTM_${name}`, ...body }]));
})();

const MESSAGE_HEADER = 16;
const NESTED_BITS = 0xc000;

function messagesOf({ bytes }: Sent): readonly string[] {
  const messages: string[] = [];
  for (let at = 0; at + MESSAGE_HEADER <= bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    const type = bytes.readUInt16LE(at + 4);
    const known = MESSAGES[type];
    const names =
      known === undefined
        ? []
        : attributesOf(bytes.subarray(at + MESSAGE_HEADER + known.header, at + length), known.attributes);
    messages.push(
      [known?.name ?? `type ${type}`, ...flagsOf(bytes.readUInt16LE(at + 6), type), ...names].join(' '),
    );
    at += aligned(Math.max(length, MESSAGE_HEADER));
  }
  return messages;
}

function flagsOf(flags: number, type: number): readonly string[] {
  const isGet = type % 4 === 2;
  const named: readonly (readonly [number, string])[] = [
    [8, 'ECHO'],
    ...((isGet
      ? [[0x300, 'DUMP']]
      : [
          [0x100, 'REPLACE'],
          [0x200, 'EXCL'],
          [0x400, 'CREATE'],
        ]) as readonly [number, string][]),
  ];
  return named.filter(([bits]) => (flags & bits) === bits).map(([, name]) => name);
}

function attributesOf(bytes: Buffer, names: readonly (string | undefined)[]): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    const type = bytes.readUInt16LE(at + 2) & ~NESTED_BITS;
    found.push(`\`${names[type] ?? type}\``);
    at += aligned(Math.max(length, 4));
  }
  return found;
}

function attributes(
  prefix: string,
  names: Readonly<Record<number, string>>,
): readonly (string | undefined)[] {
  const list: (string | undefined)[] = [];
  for (const [type, name] of Object.entries(names)) list[Number(type)] = `${prefix}${name}`;
  return list;
}

function aligned(length: number): number {
  return (length + 3) & ~3;
}
