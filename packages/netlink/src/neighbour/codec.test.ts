import fc from 'fast-check';
import { addr, all, checkCodec, i32, some, u8, u16, u32, unknown } from '../lab/codec-check.ts';
import { neighbourMessage } from './codec.ts';

checkCodec(
  'NDA',
  neighbourMessage,
  all({
    family: u8,
    index: i32,
    state: u16,
    flags: u8,
    type: u8,
    attributes: some({
      dst: addr,
      linkAddress: fc.uint8Array({ maxLength: 32 }),
      cacheInfo: all({ confirmed: u32, used: u32, updated: u32, references: u32 }),
      vlan: u16,
      port: u16,
      vni: u32,
      ifindex: u32,
      master: u32,
      protocol: u8,
      unknown,
    }),
  }),
);
