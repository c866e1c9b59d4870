/** Which links a kernel can have, found out in a namespace of its own. */
import { spawnSync } from 'node:child_process';

/** What lab tests need that this kernel lacks; all of it where nobody may make namespaces. */
export function missingLinkKinds(): readonly string[] {
  const probes = Object.entries(PROBES).map(
    ([name, spec]) => `ip link add hdprobe ${spec} 2>/dev/null && ip link delete hdprobe || echo '${name}'`,
  );
  const script = ['ip link add hd0 type veth peer name hd1', ...probes].join('\n');
  const { status, stdout } = spawnSync('unshare', ['--net', 'sh', '-c', script], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter(Boolean) : Object.keys(PROBES);
}

const PROBES = {
  dummy: 'type dummy',
  vlan: 'link hd0 type vlan id 2',
  macvlan: 'link hd0 type macvlan mode bridge',
  ipvlan: 'link hd0 type ipvlan mode l2',
  vrf: 'type vrf table 10',
  vxlan: 'type vxlan id 2 dstport 4789',
  geneve: 'type geneve id 2 remote 192.0.2.1',
  ipip: 'type ipip local 192.0.2.1',
  ifb: 'type ifb',
  'bridge VLAN filtering': 'type bridge vlan_filtering 1',
};
