export { addr, addr4, addr6, mac } from './addresses.ts';
export {
  type Attribute,
  type AttributeFields,
  type AttributesInput,
  type AttributesValue,
  attr,
  attrs,
  type ChoiceInput,
  type ChoiceValue,
  choice,
  elements,
  flag,
  indexed,
  many,
  type UnknownAttribute,
} from './attributes.ts';
export { bytes, cstring, fixedString, rest } from './bytes.ts';
export {
  type Codec,
  decode,
  decodeDeclared,
  encode,
  type Input,
  need,
  type Value,
  type Window,
  windowOf,
} from './codec.ts';
export { bool, headed, mapped, oneOf, repeated } from './compose.ts';
export { i8, i32, i32be, i64, u8, u16, u16be, u32, u32be, u64, u64be } from './numbers.ts';
export {
  type Fields,
  type Padding,
  pad,
  type StructCodec,
  type StructInput,
  type StructValue,
  struct,
} from './struct.ts';
export { WireError } from './wire-error.ts';
export { Writer } from './writer.ts';
