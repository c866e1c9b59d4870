/** The matches of iptables that rules of Heddle and of the reference plugins have. */
import { type Codec, decode, encode } from '@heddle/wire';
import { ALL_BITS, type Extension, hex, markIn, numberIn, type Option } from './extension.ts';
import {
  addrtypeInfo,
  commentInfo,
  conntrackInfo,
  markInfo,
  multiportInfo,
  sctpInfo,
  tcpInfo,
  udpInfo,
} from './xt-structs.ts';

const comment: Extension = {
  name: 'comment',
  revision: 0,
  options: ['comment'],
  write(options) {
    const text = only(options);
    if (text === undefined || Buffer.byteLength(text) > COMMENT_MAX) return undefined;
    return encode(commentInfo, { comment: text });
  },
  read: (info) => ['--comment', decode(commentInfo, info).comment],
};
/** XT_MAX_COMMENT_LEN, less the closing zero. */
const COMMENT_MAX = 255;

/** Connection states, in the order in which iptables prints them, with their bits (XT_CONNTRACK_STATE_*). */
const STATES = {
  INVALID: 1,
  NEW: 8,
  RELATED: 4,
  ESTABLISHED: 2,
  UNTRACKED: 256,
  SNAT: 64,
  DNAT: 128,
} as const;
/** XT_CONNTRACK_STATE: of all that the struct has, only the states are asked for. */
const BY_STATE = 1;

const conntrack: Extension = {
  name: 'conntrack',
  revision: 3,
  options: ['ctstate'],
  write(options) {
    const bits = only(options)
      ?.split(',')
      .map((name) => STATES[name as keyof typeof STATES]);
    if (bits === undefined || bits.includes(undefined as never)) return undefined;
    return encode(conntrackInfo, {
      matchFlags: BY_STATE,
      stateMask: bits.reduce((sum, bit) => sum | bit, 0),
    });
  },
  read(info) {
    const { matchFlags, invertFlags, stateMask } = decode(conntrackInfo, info);
    const names = Object.entries(STATES).flatMap(([name, bit]) => ((stateMask & bit) === 0 ? [] : [name]));
    return matchFlags === BY_STATE && invertFlags === 0 ? ['--ctstate', names.join(',')] : undefined;
  },
};

/** 1 << RTN_LOCAL */
const LOCAL = 4;

const addrtype: Extension = {
  name: 'addrtype',
  revision: 1,
  options: ['dst-type'],
  write: (options) => (only(options) === 'LOCAL' ? encode(addrtypeInfo, { dest: LOCAL }) : undefined),
  read(info) {
    const { source, dest, flags } = decode(addrtypeInfo, info);
    return source === 0 && dest === LOCAL && flags === 0 ? ['--dst-type', 'LOCAL'] : undefined;
  },
};

/** XT_MULTIPORT_DESTINATION */
const DESTINATION = 1;
/** XT_MULTI_PORTS */
const PORTS_MAX = 15;

const multiport: Extension = {
  name: 'multiport',
  revision: 1,
  options: ['dports', 'destination-ports'],
  write(options) {
    const ports = only(options)?.split(',').map(port);
    if (ports === undefined || ports.length > PORTS_MAX || ports.includes(undefined)) return undefined;
    return encode(multiportInfo, { flags: DESTINATION, count: ports.length, ports: ports as number[] });
  },
  read(info) {
    const { flags, count, ports, rangeFlags, invert } = decode(multiportInfo, info);
    if (flags !== DESTINATION || invert !== 0 || rangeFlags.some((flag) => flag !== 0)) return undefined;
    return ['--dports', ports.slice(0, count).join(',')];
  },
};

/** Every port there is. */
const ANY_PORT = [0, 0xffff];

const tcp = destinationPort('tcp', tcpInfo, { source: ANY_PORT });
const udp = destinationPort('udp', udpInfo, { source: ANY_PORT });
/** XT_SCTP_DEST_PORTS, and a list of chunk flags that is empty: its types are 255. */
const sctp = destinationPort('sctp', sctpInfo, {
  flags: 2,
  chunkFlags: Uint8Array.of(255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0),
});

const mark: Extension = {
  name: 'mark',
  revision: 1,
  options: ['mark'],
  write([option, ...more]) {
    const wanted = markIn(option?.values[0]);
    if (option === undefined || wanted === undefined || more.length > 0) return undefined;
    return encode(markInfo, { ...wanted, invert: option.negated ? 1 : 0 });
  },
  read(info) {
    const { mark, mask, invert } = decode(markInfo, info);
    return [
      ...(invert === 0 ? [] : ['!']),
      '--mark',
      mask === ALL_BITS ? hex(mark) : `${hex(mark)}/${hex(mask)}`,
    ];
  },
};

/** All of them, by name. */
export const MATCHES: ReadonlyMap<string, Extension> = new Map(
  [comment, conntrack, addrtype, multiport, tcp, udp, sctp, mark].map((each) => [each.name, each]),
);

/** A match of a protocol by one destination port; whatever else its struct can say has to be as it is by itself. */
function destinationPort<V extends { readonly dest: readonly number[] }>(
  name: string,
  codec: Codec<V, Partial<V>>,
  usual: Partial<V>,
): Extension {
  const infoFor = (number: number) =>
    encode(codec, { ...usual, dest: [number, number] } as unknown as Partial<V>);
  return {
    name,
    revision: 0,
    options: ['dport'],
    write(options) {
      const number = port(only(options));
      return number === undefined ? undefined : infoFor(number);
    },
    read(info) {
      const [number = 0] = decode(codec, info).dest;
      return Buffer.compare(infoFor(number), info) === 0 ? ['--dport', String(number)] : undefined;
    },
  };
}

function port(text: string | undefined): number | undefined {
  return numberIn(text, 0xffff);
}

/** The value where there is one option with one value, and it is not negated. */
function only(options: readonly Option[]): string | undefined {
  const [option] = options;
  if (option === undefined || options.length > 1 || option.negated || option.values.length > 1)
    return undefined;
  return option.values[0];
}
