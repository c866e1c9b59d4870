import fc from 'fast-check';
import { brport } from '../bridge/port-codec.ts';
import {
  addr4,
  addr6,
  all,
  bool,
  checkCodec,
  i32,
  mac,
  oneOf,
  some,
  text,
  u8,
  u16,
  u32,
  unknown,
} from '../lab/codec-check.ts';
import { linkMessage } from './codec.ts';

const ifinfo = { family: u8, type: u16, index: i32, flags: u32, change: u32 };

const base = {
  address: fc.uint8Array({ maxLength: 32 }),
  ifname: text,
  mtu: u32,
  link: u32,
  master: u32,
  operstate: oneOf('up', 'down', 'dormant'),
  ifalias: text,
  netnsFd: u32,
  linkNetnsid: i32,
  propertyList: some({ altNames: fc.array(text, { minLength: 1, maxLength: 3 }) }),
};
const kinds: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  bridge: some({
    ageingTime: u32,
    stp: bool,
    vlanFiltering: bool,
    vlanProtocol: u16,
    groupAddress: mac,
    unknown,
  }),
  vlan: some({ id: u16, protocol: oneOf('802.1q', '802.1ad'), flags: all({ flags: u32, mask: u32 }) }),
  macvlan: some({
    mode: oneOf('private', 'vepa', 'bridge', 'passthru'),
    flags: u16,
    broadcastQueueLength: u32,
  }),
  macvtap: some({ mode: oneOf('private', 'source') }),
  ipvlan: some({ mode: oneOf('l2', 'l3', 'l3s'), flags: u16 }),
  vrf: some({ table: u32 }),
  tun: some({ owner: u32, type: oneOf('tun', 'tap'), persistent: bool, queues: u32 }),
  geneve: some({
    id: u32,
    remote4: addr4,
    remote6: addr6,
    port: u16,
    flowLabel: u32,
    external: fc.constant(true),
  }),
  vxlan: some({
    id: u32,
    remote4: addr4,
    local6: addr6,
    portRange: all({ low: u16, high: u16 }),
    port: u16,
    ttlInherit: bool,
    groupPolicy: fc.constant(true),
    flowLabel: u32,
  }),
  veth: some({ peer: all({ ...ifinfo, attributes: some(base) }) }),
};
const port = some({
  state: oneOf('disabled', 'forwarding', 'blocking'),
  cost: u32,
  hairpin: bool,
  isolated: bool,
  neighSuppress: bool,
  groupForwardMask: u16,
  unknown,
});
const linkInfo = fc.constantFrom(...Object.keys(kinds)).chain((kind) =>
  all({
    kind: fc.constant(kind),
    data: all({ [kind]: kinds[kind] ?? fc.constant({}) }),
    slaveKind: fc.constant('bridge'),
    slaveData: all({ bridge: port }),
  }),
);

checkCodec('IFLA', linkMessage, all({ ...ifinfo, attributes: some({ ...base, linkInfo, unknown }) }));

checkCodec('IFLA_BRPORT', brport, port);
