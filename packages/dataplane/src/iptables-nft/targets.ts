/** The targets of iptables that are extensions, as rules of Heddle and of the reference plugins have them. */
import { Addr } from '@heddle/netaddr';
import { decode, encode } from '@heddle/wire';
import { type Extension, hex, markIn, numberIn } from './extension.ts';
import { natRange, natRange4, natRange6, setMarkInfo } from './xt-structs.ts';

const setMark: Extension = {
  name: 'MARK',
  revision: 2,
  options: ['set-xmark'],
  write([option, ...more]) {
    const wanted = markIn(option?.values[0]);
    return wanted === undefined || more.length > 0 ? undefined : encode(setMarkInfo, wanted);
  },
  read(info) {
    const { mark, mask } = decode(setMarkInfo, info);
    return ['--set-xmark', `${hex(mark)}/${hex(mask)}`];
  },
};

const masquerade: Extension = {
  name: 'MASQUERADE',
  revision: 0,
  options: [],
  write: (_, { family }) => (family === 4 ? encode(natRange4, { count: 1 }) : encode(natRange6, {})),
  read(info, { family }) {
    const { flags } = family === 4 ? decode(natRange4, info) : decode(natRange6, info);
    return flags === 0 ? [] : undefined;
  },
};

/** NF_NAT_RANGE_MAP_IPS and NF_NAT_RANGE_PROTO_SPECIFIED: an address and a port. */
const ADDRESS_AND_PORT = 3;

const dnat: Extension = {
  name: 'DNAT',
  revision: 2,
  options: ['to-destination'],
  write([option, ...more], { family }) {
    const [, bracketed, plain, digits] = /^(?:\[(.*)\]|([^:]*)):(\d+)$/.exec(option?.values[0] ?? '') ?? [];
    const addr = Addr.tryParse(bracketed ?? plain ?? '');
    const port = numberIn(digits, 0xffff);
    if (addr?.family !== family || port === undefined || more.length > 0) return undefined;
    const bytes = addr.toBytes();
    return encode(natRange, {
      ...{ flags: ADDRESS_AND_PORT, min: bytes, max: bytes, minPort: port, maxPort: port },
    });
  },
  read(info, { family }) {
    const { flags, min, max, minPort, maxPort } = decode(natRange, info);
    if (flags !== ADDRESS_AND_PORT || minPort !== maxPort || Buffer.compare(min, max) !== 0) return undefined;
    const addr = Addr.fromBytes(min.subarray(0, family === 4 ? 4 : 16));
    return ['--to-destination', `${family === 6 ? `[${addr}]` : addr}:${minPort}`];
  },
};

/** All of them, by name. */
export const TARGETS: ReadonlyMap<string, Extension> = new Map(
  [setMark, masquerade, dnat].map((each) => [each.name, each]),
);
