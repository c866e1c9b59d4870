/** RTM_NEWLINK, RTM_GETLINK … with IFLA_LINKINFO — linux/if_link.h */
import { attr, attrs, choice, cstring, headed, type Input, type Value } from '@heddle/wire';
import { brport } from '../bridge/port-codec.ts';
import { ifinfomsg, linkFields } from './fields.ts';
import { bridge } from './kinds/bridge.ts';
import { geneve } from './kinds/geneve.ts';
import { ipip } from './kinds/ipip.ts';
import { ipvlan } from './kinds/ipvlan.ts';
import { macvlan } from './kinds/macvlan.ts';
import { tun } from './kinds/tun.ts';
import { veth } from './kinds/veth.ts';
import { vlan } from './kinds/vlan.ts';
import { vrf } from './kinds/vrf.ts';
import { vxlan } from './kinds/vxlan.ts';

/** IFLA_INFO_* */
export const linkInfo = attrs('IFLA_INFO', {
  kind: attr(1, cstring),
  data: choice(2, 'kind', {
    bridge,
    geneve,
    ipip,
    ipvlan,
    macvlan,
    macvtap: macvlan,
    tun,
    veth,
    vlan,
    vrf,
    vxlan,
  }),
  slaveKind: attr(4, cstring),
  slaveData: choice(5, 'slaveKind', { bridge: brport }),
});

/** A message about a link, both ways. */
export const linkMessage = headed(ifinfomsg, attrs('IFLA', { ...linkFields, linkInfo: attr(18, linkInfo) }));
/** A link as the kernel describes it. */
export type LinkMessage = Value<typeof linkMessage>;
/** What a request about a link is written from. */
export type LinkRequest = Input<typeof linkMessage>;
