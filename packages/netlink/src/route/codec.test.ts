import fc from 'fast-check';
import { addr, all, bool, checkCodec, i32, oneOf, some, text, u8, u32, unknown } from '../lab/codec-check.ts';
import { routeMessage } from './codec.ts';

const nexthop = all({
  flags: u8,
  hops: u8,
  index: i32,
  attributes: some({ gateway: addr, via: addr, unknown }),
});

checkCodec(
  'RTA',
  routeMessage,
  all({
    family: u8,
    dstLength: u8,
    srcLength: u8,
    tos: u8,
    table: u8,
    protocol: u8,
    scope: u8,
    type: oneOf('unicast', 'blackhole', 'local'),
    flags: u32,
    attributes: some({
      dst: addr,
      src: addr,
      iif: u32,
      oif: u32,
      gateway: addr,
      via: addr,
      priority: u32,
      prefsrc: addr,
      metrics: some({ lock: u32, mtu: u32, advmss: u32, congestionControl: text, unknown }),
      multipath: fc.array(nexthop, { minLength: 1, maxLength: 4 }),
      table: u32,
      ttlPropagate: bool,
      nexthopId: u32,
      unknown,
    }),
  }),
);
