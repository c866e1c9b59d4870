/**
 * Writes `vectors/rtnetlink.json`: messages of the running kernel, with the commands that led to them and
 * what they are read as. Run by hand, as root, when a codec is added:
 * `node --conditions=source packages/netlink/src/lab/capture-vectors.ts`.
 */
import { writeFileSync } from 'node:fs';
import { addressMessage } from '../address/codec.ts';
import { bridgeMessage } from '../bridge/codec.ts';
import { AF } from '../core/family.ts';
import { RTM } from '../core/rtm.ts';
import { neighbourMessage } from '../neighbour/codec.ts';
import { routeMessage } from '../route/codec.ts';
import { ruleMessage } from '../rule/codec.ts';
import { qdiscMessage } from '../tc/codec.ts';
import { capture, link, list, type Recipe } from './capture.ts';
import { type Vector, vectorFiles } from './vectors.ts';

const RECIPES: readonly Recipe[] = [
  link('ip link show lo', 'lo'),
  link('ip link add hdbr type bridge; ip link set hd0 master hdbr', 'hd0'),
  link('ip link add hdbr type bridge ageing_time 5000 stp_state 1 mcast_snooping 0', 'hdbr'),
  link('ip link add hdmv link hd0 type macvlan mode bridge', 'hdmv'),
  link('ip link add hdvx type vxlan id 42 local 192.0.2.1 dstport 4789 dev hd0 nolearning', 'hdvx'),
  link('ip link add hdvx type vxlan id 42 local 2001:db8::1 remote 2001:db8::2 dstport 4789 dev hd0', 'hdvx'),
  link('ip tuntap add dev hdtap mode tap user 1000', 'hdtap'),
  link(
    'ip link add hdifb type ifb; ip link set hdifb alias owner; ip link property add dev hdifb altname a-rather-long-name',
    'hdifb',
  ),
  ...(
    [
      '10.1.2.3/24 broadcast 10.1.2.255 label hd0:x',
      '192.0.2.1 peer 192.0.2.9/32 valid_lft 600 preferred_lft 300',
      'fd00::1/64 nodad',
    ] as const
  ).map(
    (spec): Recipe => ({
      kind: 'address',
      commands: [`ip address add ${spec} dev hd0`],
      type: RTM.GETADDR,
      request: list(addressMessage, { family: spec.startsWith('fd') ? AF.INET6 : AF.INET }),
      has: `"${spec.split('/')[0]?.split(' ')[0]}/`,
    }),
  ),
  ...(
    [
      [AF.INET, 'default via 10.0.0.2 metric 50'],
      [AF.INET, '192.0.2.0/24 via 10.0.0.2 dev hd0 onlink table 1000 mtu 1400 advmss 1200 src 10.0.0.1'],
      [AF.INET, '192.0.2.0/24 nexthop via 10.0.0.2 weight 1 nexthop via 10.0.0.3 weight 3'],
      [AF.INET, '192.0.2.0/24 via inet6 fd00::2 dev hd0'],
      [AF.INET, 'blackhole 192.0.2.0/24'],
      [AF.INET6, '2001:db8::/48 via fd00::2 dev hd0 mtu 1400'],
      [AF.INET6, '2001:db8::/48 nexthop via fd00::2 nexthop via fd00::3'],
    ] as const
  ).map(
    ([family, spec]): Recipe => ({
      kind: 'route',
      commands: [
        'ip address add 10.0.0.1/24 dev hd0',
        'ip address add fd00::1/64 dev hd0 nodad',
        `ip ${family === AF.INET ? '-4' : '-6'} route add ${spec}`,
      ],
      type: RTM.GETROUTE,
      request: list(routeMessage, { family }),
      has: spec.startsWith('default')
        ? '"0.0.0.0/0"'
        : family === AF.INET
          ? '"192.0.2.0/24"'
          : '"2001:db8::/48"',
    }),
  ),
  {
    kind: 'rule',
    commands: [
      'ip rule add not from 10.0.0.0/8 iif lo fwmark 0x100/0xff00 table 1000 priority 12 dport 80-90',
    ],
    type: RTM.GETRULE,
    request: list(ruleMessage, { family: AF.INET }),
    has: '"priority":12',
  },
  ...(['10.0.0.2', 'fd00::2'] as const).map(
    (address): Recipe => ({
      kind: 'neighbour',
      commands: [`ip neighbour add ${address} lladdr 0a:58:0a:01:00:02 dev hd0`],
      type: RTM.GETNEIGH,
      request: list(neighbourMessage, { family: address.startsWith('fd') ? AF.INET6 : AF.INET }),
      has: `"${address}"`,
    }),
  ),
  {
    kind: 'fdb',
    commands: [
      'ip link add hdvx type vxlan id 42 local 192.0.2.1 dstport 4789',
      'bridge fdb add 0a:58:0a:01:00:02 dst 192.0.2.2 vni 43 dev hdvx',
    ],
    type: RTM.GETNEIGH,
    request: list(neighbourMessage, { family: AF.BRIDGE }),
    has: '"192.0.2.2"',
  },
  {
    kind: 'port',
    commands: [
      'ip link add hdbr type bridge',
      'ip link set hd0 master hdbr',
      'bridge link set dev hd0 hairpin on isolated on',
    ],
    type: RTM.GETLINK,
    request: list(bridgeMessage, { family: AF.BRIDGE }),
    has: '"hairpin":true',
  },
  {
    kind: 'qdisc',
    commands: ['tc qdisc add dev hd0 root handle 1: tbf rate 1mbit burst 100kb limit 200kb'],
    type: RTM.GETQDISC,
    request: list(qdiscMessage, {}),
    has: '"tbf"',
  },
  {
    kind: 'class',
    commands: [
      'tc qdisc add dev hd0 root handle 1: htb default 10',
      'tc class add dev hd0 parent 1: classid 1:10 htb rate 10mbit ceil 40gbit',
    ],
    type: RTM.GETTCLASS,
    request: list(qdiscMessage, { index: 3 }),
    has: '"htb"',
  },
  {
    kind: 'filter',
    commands: [
      'tc qdisc add dev hd0 ingress',
      'tc filter add dev hd0 parent ffff: protocol all prio 1 u32 match ip src 10.0.0.0/8 classid 1:1 action mirred egress redirect dev hd1',
    ],
    type: RTM.GETTFILTER,
    request: list(qdiscMessage, { index: 3, parent: 0xffff_0000 }),
    has: '"u32"',
  },
];

const vectors: Vector[] = [];
for (const recipe of RECIPES) vectors.push(await capture(recipe));
writeFileSync(vectorFiles['capture-vectors.ts'], `${JSON.stringify(vectors, undefined, 1)}\n`);
