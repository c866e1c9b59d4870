/**
 * Writes what goes into `vectors/link-kinds.json` to standard output: links of every kind as a kernel describes them
 * that has all of these. Run by hand when a codec is added:
 * `make -s lab CMD='node --conditions=source packages/netlink/src/lab/capture-link-kinds.ts' >FILE`.
 */
import { encode } from '@heddle/wire';
import { bridgeMessage } from '../bridge/codec.ts';
import { AF } from '../core/family.ts';
import { RTM } from '../core/rtm.ts';
import { RTEXT_FILTER } from '../link/fields.ts';
import { capture, link, type Recipe } from './capture.ts';
import type { Vector } from './vectors.ts';

const on = (lower: string, name: string, spec: string) =>
  link(`ip link add link ${lower} name ${name} type ${spec}`, name);

const RECIPES: readonly Recipe[] = [
  link('ip link add hddm type dummy', 'hddm'),
  on('hd0', 'hdvl', 'vlan id 100'),
  on('hd0', 'hdvl', 'vlan protocol 802.1ad id 4094 reorder_hdr off gvrp on'),
  ...['private', 'vepa', 'bridge', 'passthru'].map((mode) => on('hd0', 'hdmv', `macvlan mode ${mode}`)),
  on('hd0', 'hdmv', 'macvlan mode source bcqueuelen 100'),
  on('hd0', 'hdmt', 'macvtap mode bridge'),
  on('hd0', 'hdiv', 'ipvlan mode l2'),
  on('hd0', 'hdiv', 'ipvlan mode l3 private'),
  on('hd0', 'hdiv', 'ipvlan mode l3s vepa'),
  link('ip link add hdvrf type vrf table 1000', 'hdvrf'),
  link('ip link add hdvrf type vrf table 1000; ip link set hd0 master hdvrf', 'hd0'),
  link('ip link add hdvx type vxlan id 42 dstport 4789 group 239.1.1.1 dev hd0 ttl 8 ageing 60', 'hdvx'),
  link('ip link add hdvx type vxlan dstport 4789 external', 'hdvx'),
  link('ip link add hdgn type geneve id 42 remote 192.0.2.2 ttl 8', 'hdgn'),
  link('ip link add hdgn type geneve id 42 remote 2001:db8::2 udp6zerocsumrx', 'hdgn'),
  link('ip link add hdgn type geneve dstport 6082 external', 'hdgn'),
  link('ip link add hdbr type bridge vlan_filtering 1 vlan_default_pvid 7', 'hdbr'),
  link('ip link add hdbr type bridge vlan_filtering 1 vlan_protocol 802.1ad', 'hdbr'),
  link(
    'ip link add hdbo type bond mode active-backup; ip link set hd0 down; ip link set hd0 master hdbo',
    'hd0',
  ),
  link('ip link add hdip type ipip local 192.0.2.1 remote 192.0.2.2', 'hdip'),
  link('ip link add hdsi type sit local 192.0.2.1 remote 192.0.2.2', 'hdsi'),
  link('ip link add hdgr type gretap local 192.0.2.1 remote 192.0.2.2 key 5', 'hdgr'),
  link('ip link add hdi6 type ip6tnl local 2001:db8::1 remote 2001:db8::2', 'hdi6'),
  link('ip link add hdwg type wireguard', 'hdwg'),
  {
    kind: 'vlans',
    commands: [
      'ip link add hdbr type bridge vlan_filtering 1',
      'ip link set hd0 master hdbr',
      'bridge vlan add dev hd0 vid 100 pvid untagged',
      'bridge vlan add dev hd0 vid 200-203',
    ],
    type: RTM.GETLINK,
    request: encode(bridgeMessage, {
      family: AF.BRIDGE,
      attributes: { extMask: RTEXT_FILTER.BRVLAN },
    }),
    has: '203',
  },
];

const vectors: Vector[] = [];
for (const recipe of RECIPES) vectors.push(await capture(recipe));
process.stdout.write(`${JSON.stringify(vectors, undefined, 1)}\n`);
