/** IP and MAC addresses inside messages. */
import { Addr, Mac } from '@heddle/netaddr';
import { type Codec, need } from './codec.ts';
import { WireError } from './wire-error.ts';

/** An IPv4 address, 4 bytes. */
export const addr4: Codec<Addr> = address('addr4', 4);
/** An IPv6 address, 16 bytes. */
export const addr6: Codec<Addr> = address('addr6', 16);

/** An address of either family, told apart by the length of the attribute that holds it. */
export const addr: Codec<Addr> = {
  name: 'addr',
  size: undefined,
  read(window, start, end) {
    const length = end - start;
    if (length !== 4 && length !== 16)
      throw new WireError('addr', start, `needs 4 or 16 bytes, not ${length}`);
    return Addr.fromBytes(window.bytes.subarray(start, end));
  },
  write: (writer, value) => writer.append(value.toBytes()),
};

/** An Ethernet address, 6 bytes. */
export const mac: Codec<Mac> = {
  name: 'mac',
  size: 6,
  read(window, start, end) {
    need('mac', 6, start, end);
    return Mac.fromBytes(window.bytes.subarray(start, start + 6));
  },
  write: (writer, value) => writer.append(value.toBytes()),
};

function address(name: string, size: 4 | 16): Codec<Addr> {
  return {
    name,
    size,
    read(window, start, end) {
      need(name, size, start, end);
      return Addr.fromBytes(window.bytes.subarray(start, start + size));
    },
    write(writer, value) {
      const raw = value.toBytes();
      if (raw.length !== size) throw new WireError(name, writer.length, `cannot hold ${value}`);
      writer.append(raw);
    },
  };
}
