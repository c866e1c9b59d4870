import fc from 'fast-check';
import { all, bool, checkCodec, i32, oneOf, some, u8, u16, u32, unknown } from '../lab/codec-check.ts';
import { bridgeMessage } from './codec.ts';

const port = some({
  state: oneOf('disabled', 'forwarding'),
  hairpin: bool,
  neighSuppress: bool,
  cost: u32,
  unknown,
});
const vlan = all({ flags: u16, id: u16 });

checkCodec(
  'IFLA of AF_BRIDGE',
  bridgeMessage,
  all({
    family: u8,
    type: u16,
    index: i32,
    flags: u32,
    change: u32,
    attributes: some({
      master: u32,
      port,
      spec: some({ flags: u16, vlans: fc.array(vlan, { minLength: 1, maxLength: 5 }) }),
      unknown,
    }),
  }),
);
