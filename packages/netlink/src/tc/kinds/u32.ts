/** TCA_U32_*, struct tc_u32_sel, struct tc_u32_key — linux/pkt_cls.h; filter "u32" */
import {
  attr,
  attrs,
  type Codec,
  type Input,
  i32,
  pad,
  repeated,
  struct,
  u8,
  u16,
  u16be,
  u32,
  u32be,
  type Value,
} from '@heddle/wire';
import { type Action, actionAttributes, actions, actionsOf } from './action.ts';

const key = struct('tc_u32_key', { mask: u32be, value: u32be, offset: i32, offsetMask: i32 });
const keys = repeated(key);

const head = struct('tc_u32_sel', {
  flags: u8,
  offsetShift: u8,
  keys: u8,
  pad: pad(1),
  offsetMask: u16be,
  offset: u16,
  offsetOffset: u16,
  hashOffset: u16,
  hashMask: u32be,
});
const HEAD_SIZE = 16;
const KEY_SIZE = 16;

/** One comparison: the 32 bits at `offset`, under `mask`, with `value`. */
export interface U32Key {
  readonly mask: number;
  readonly value: number;
  /** Bytes from the network header. */
  readonly offset: number;
  /** -1 to count from the end of the network header. */
  readonly offsetMask?: number | undefined;
}

/** TCA_U32_SEL: what a packet is compared with. */
export interface Selector {
  /** TC_U32_TERMINAL and its like. */
  readonly flags: number;
  readonly keys: readonly U32Key[];
}

const selector: Codec<Selector> = {
  name: 'tc_u32_sel',
  size: undefined,
  read(window, start, end) {
    const { flags, keys: count } = head.read(window, start, end);
    const from = start + HEAD_SIZE;
    return { flags, keys: keys.read(window, from, Math.min(from + count * KEY_SIZE, end)) };
  },
  write(writer, { flags, keys: list }) {
    head.write(writer, { flags, keys: list.length });
    keys.write(writer, list);
  },
};

/** Attributes of a filter that compares words of a packet. */
export const u32Filter = attrs('TCA_U32', {
  classId: attr(1, u32),
  divisor: attr(4, u32),
  selector: attr(5, selector),
  actions: attr(7, actions),
});

/** A filter that compares words of a packet. */
export interface U32Filter {
  /** All must hold; none, when left out, matches every packet. */
  readonly keys?: readonly U32Key[] | undefined;
  /** The class that matching packets go to. */
  readonly classId?: number | undefined;
  readonly actions?: readonly Action[] | undefined;
}

/** The filter from its attributes; `undefined` for an entry that is one of its hash tables. */
export function u32FilterOf(raw: Value<typeof u32Filter>): U32Filter | undefined {
  if (raw.selector === undefined) return undefined;
  return {
    keys: raw.selector.keys,
    ...(raw.classId !== undefined && { classId: raw.classId }),
    actions: actionsOf(raw.actions ?? []),
  };
}

/** The attributes of the filter. */
export function u32FilterAttributes({ keys, classId, actions }: U32Filter): Input<typeof u32Filter> {
  return {
    classId,
    selector: { flags: TC_U32_TERMINAL, keys: keys ?? [EVERYTHING] },
    actions: actions && actionAttributes(actions),
  };
}

const TC_U32_TERMINAL = 1;
const EVERYTHING: U32Key = { mask: 0, value: 0, offset: 0 };
