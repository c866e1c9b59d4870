/**
 * What `nft` keeps beside its objects: type and length in a byte each, then the value — libnftnl, udata.h.
 * The kernel stores the bytes and knows nothing of them.
 */
import { type Codec, cstring, decode, encode, u8, u32, WireError } from '@heddle/wire';

/** NFTNL_UDATA_*_COMMENT: of tables, chains, rules, elements and named objects. */
export const COMMENT = 0;

/** enum nftnl_udata_set_types */
export const SET_USERDATA = { KEY_BYTE_ORDER: 0, DATA_BYTE_ORDER: 1, DATA_INTERVAL: 6, COMMENT: 7 } as const;

/** The byte orders that `nft` writes down; concatenations have none. */
export const BYTE_ORDER = { none: 0, host: 1, network: 2 } as const;

/** One item of user data. */
export interface UserdataItem {
  readonly type: number;
  readonly value: Uint8Array;
}

/** A list of items. */
export const userdata: Codec<readonly UserdataItem[]> = {
  name: 'userdata',
  size: undefined,
  read(window, start, end) {
    const items: UserdataItem[] = [];
    for (let at = start; at < end; ) {
      const type = u8.read(window, at, end);
      const length = u8.read(window, at + 1, end);
      const from = at + 2;
      at = from + length;
      if (at > end) throw new WireError('userdata', from, `needs ${length} bytes, ${end - from} are left`);
      items.push({ type, value: window.bytes.slice(from, at) });
    }
    return items;
  },
  write(writer, items) {
    for (const { type, value } of items) {
      if (value.length > 255)
        throw new WireError('userdata', writer.length, `cannot hold ${value.length} bytes`);
      u8.write(writer, type);
      u8.write(writer, value.length);
      writer.append(value);
    }
  },
};

/** An item that holds text, NUL-terminated. */
export function textItem(type: number, text: string): UserdataItem {
  return { type, value: encode(cstring, text) };
}

/** An item that holds a number. */
export function numberItem(type: number, value: number): UserdataItem {
  return { type, value: encode(u32, value) };
}

/** The comment among the items, `undefined` without one. */
export function commentIn(items: readonly UserdataItem[], type: number): string | undefined {
  const item = items.find((each) => each.type === type);
  if (item === undefined) return undefined;
  const nul = item.value.indexOf(0);
  return new TextDecoder().decode(nul === -1 ? item.value : item.value.subarray(0, nul));
}

/** The items of user data that anyone may have written: none where it is not of this form. */
export function itemsOf(bytes: Uint8Array): readonly UserdataItem[] {
  try {
    return decode(userdata, bytes);
  } catch (error) {
    if (error instanceof WireError) return [];
    throw error;
  }
}
