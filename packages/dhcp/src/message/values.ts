/** The formats of option values that are more than a number or an address. */
import { Prefix } from '@heddle/netaddr';
import { addr4, type Codec, need, u8, type Window, WireError } from '@heddle/wire';

/** A route that a server hands out. A router of 0.0.0.0 means that the destination is on the link. */
export interface LeasedRoute {
  readonly destination: Prefix;
  readonly router: Prefix['addr'];
}

/** Text to the end of the option; NULs at its end are no part of it (RFC 2132 §2). */
export const text: Codec<string> = {
  name: 'text',
  size: undefined,
  read: (window, start, end) =>
    new TextDecoder().decode(window.bytes.subarray(start, end)).replace(/\0+$/, ''),
  write: (writer, value) => writer.append(new TextEncoder().encode(value)),
};

/**
 * A domain name as text. Anything that could not stand in `resolv.conf` is refused: what a server says must not
 * add lines to that file.
 */
export const domainName: Codec<string> = {
  ...text,
  name: 'domain name',
  read(window, start, end) {
    const name = text.read(window, start, end);
    if (!isName(name)) throw new WireError('domain name', start, `cannot be ${JSON.stringify(name)}`);
    return name;
  },
};

/**
 * Option 119: domain names as in DNS messages, with compression inside the option (RFC 3397).
 * Written without compression.
 */
export const domainList: Codec<readonly string[]> = {
  name: 'domain list',
  size: undefined,
  read(window, start, end) {
    const names: string[] = [];
    for (let at = start; at < end; ) {
      const { name, next } = readName(window, start, at, end);
      if (!isName(name)) throw new WireError('domain list', at, `cannot hold ${JSON.stringify(name)}`);
      names.push(name);
      at = next;
    }
    return names;
  },
  write(writer, names) {
    for (const name of names) {
      for (const label of name.split('.')) {
        const bytes = new TextEncoder().encode(label);
        u8.write(writer, bytes.length);
        writer.append(bytes);
      }
      u8.write(writer, 0);
    }
  },
};

/** Option 33: pairs of destination and router. The destination is a host or a network by class (RFC 2132 §5.8). */
export const classfulRoutes: Codec<readonly LeasedRoute[]> = listOf('static routes', {
  name: 'static route',
  size: 8,
  read(window, start, end) {
    const address = addr4.read(window, start, end);
    return {
      destination: Prefix.of(address, classfulBits(address)),
      router: addr4.read(window, start + 4, end),
    };
  },
  write(writer, { destination, router }) {
    addr4.write(writer, destination.addr);
    addr4.write(writer, router);
  },
});

/** Option 121: destinations with their significant bytes only, and routers (RFC 3442). */
export const classlessRoutes: Codec<readonly LeasedRoute[]> = listOf('classless routes', {
  name: 'classless route',
  size: undefined,
  read(window, start, end) {
    const bits = u8.read(window, start, end);
    if (bits > 32) throw new WireError('classless route', start, `cannot have a prefix of ${bits} bits`);
    const significant = Math.ceil(bits / 8);
    need('classless route', 1 + significant + 4, start, end);
    const bytes = new Uint8Array(4);
    bytes.set(window.bytes.subarray(start + 1, start + 1 + significant));
    // Bits past the length are to be ignored: servers leave some in.
    const destination = Prefix.of(addr4.read({ bytes, view: new DataView(bytes.buffer) }, 0, 4), bits);
    return { destination: destination.masked(), router: addr4.read(window, start + 1 + significant, end) };
  },
  write(writer, { destination, router }) {
    u8.write(writer, destination.bits);
    writer.append(destination.network.toBytes().subarray(0, Math.ceil(destination.bits / 8)));
    addr4.write(writer, router);
  },
});

/** Values one behind the other, where each is as long as it is written again. */
function listOf(name: string, item: Codec<LeasedRoute>): Codec<readonly LeasedRoute[]> {
  return {
    name,
    size: undefined,
    read(window, start, end) {
      const found: LeasedRoute[] = [];
      for (let at = start; at < end; ) {
        const value = item.read(window, at, end);
        found.push(value);
        at += item.size ?? 1 + Math.ceil(value.destination.bits / 8) + 4;
      }
      return found;
    },
    write(writer, values) {
      for (const value of values) item.write(writer, value);
    },
  };
}

/** RFC 791 §3.2: classes A, B and C. An address with bits past its network's is a host. */
function classfulBits(address: Prefix['addr']): number {
  const first = address.toBytes()[0] ?? 0;
  const bits = first < 128 ? 8 : first < 192 ? 16 : first < 224 ? 24 : 32;
  return Prefix.of(address, bits).hasHostBits ? 32 : bits;
}

/**
 * A name of labels; `next` is what follows it where it stands. A pointer leads to bytes before the label it
 * replaces, which also ends every loop.
 */
function readName(
  window: Window,
  start: number,
  from: number,
  end: number,
): { readonly name: string; readonly next: number } {
  const labels: string[] = [];
  let next: number | undefined;
  for (let at = from, floor = from; ; ) {
    const length = u8.read(window, at, end);
    if (length === 0) return { name: labels.join('.'), next: next ?? at + 1 };
    if (length >= POINTER) {
      const target = start + (((length & 0x3f) << 8) | u8.read(window, at + 1, end));
      if (target >= floor) throw new WireError('domain list', at, 'has a pointer that does not lead back');
      next ??= at + 2;
      at = target;
      floor = target;
      continue;
    }
    need('domain list', 1 + length, at, end);
    labels.push(text.read(window, at + 1, at + 1 + length));
    at += 1 + length;
  }
}

/** RFC 1035 §4.1.4: the two highest bits of a length mark a pointer. */
const POINTER = 0xc0;

function isName(name: string): boolean {
  return name.length <= 253 && /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$/.test(name);
}
