import {
  addr,
  all,
  bool,
  checkCodec,
  oneOf,
  some,
  text,
  u8,
  u16,
  u32,
  u64,
  unknown,
} from '../lab/codec-check.ts';
import { ruleMessage } from './codec.ts';

checkCodec(
  'FRA',
  ruleMessage,
  all({
    family: u8,
    dstLength: u8,
    srcLength: u8,
    tos: u8,
    table: u8,
    action: oneOf('table', 'goto', 'prohibit'),
    flags: u32,
    attributes: some({
      dst: addr,
      src: addr,
      iif: text,
      goto: u32,
      priority: u32,
      fwmark: u32,
      fwmask: u32,
      tunnelId: u64,
      l3mdev: bool,
      uids: all({ start: u32, end: u32 }),
      sourcePorts: all({ start: u16, end: u16 }),
      unknown,
    }),
  }),
);
