import { addr, all, checkCodec, some, text, u8, u32, unknown } from '../lab/codec-check.ts';
import { addressMessage } from './codec.ts';

checkCodec(
  'IFA',
  addressMessage,
  all({
    family: u8,
    prefixLength: u8,
    flags: u8,
    scope: u8,
    index: u32,
    attributes: some({
      address: addr,
      local: addr,
      label: text,
      broadcast: addr,
      cacheInfo: all({ preferred: u32, valid: u32, created: u32, updated: u32 }),
      flags: u32,
      metric: u32,
      protocol: u8,
      unknown,
    }),
  }),
);
