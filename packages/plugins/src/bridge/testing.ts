/** What tests of VLANs share. */
import { type PluginLab, StubIpam, type TestNetns } from '../testing/index.ts';

/** A network without addresses. */
export const layer2 = { type: 'bridge', bridge: 'br0' };
/** One with a gateway; see {@link ipamOf}. */
export const layer3 = { ...layer2, isGateway: true, ipam: { type: 'stub' } };

interface PortInfo {
  readonly ifname: string;
  readonly vlans: readonly { readonly vlan: number; readonly vlanEnd?: number; readonly flags?: string[] }[];
}

/** The VLANs of a port as `bridge vlan` shows them, such as `100 PVID Egress Untagged`. */
export function vlansOf(host: TestNetns, port: string | undefined): readonly string[] {
  const ports = host.json('bridge', '-j', 'vlan', 'show', 'dev', String(port)) as PortInfo[];
  return (ports[0]?.vlans ?? []).map(({ vlan, vlanEnd, flags = [] }) =>
    [vlanEnd === undefined ? `${vlan}` : `${vlan}-${vlanEnd}`, ...flags].join(' '),
  );
}

/** What {@link vlansOf} says of the VLAN of untagged frames. */
export const NATIVE = 'PVID Egress Untagged';

/** Gives out one address of each family after the other. */
export function ipamOf(...families: readonly (4 | 6)[]): StubIpam {
  let last = 1;
  return new StubIpam(() => {
    last++;
    const addresses = { 4: `10.1.2.${last}/24`, 6: `fd00::${last}/64` };
    return { ips: families.map((family) => ({ address: addresses[family] })) };
  });
}

/** Attaches a new container. */
export async function addTo(lab: PluginLab, config: object) {
  const request = { config: { ...layer2, ...config }, container: lab.container() };
  const prevResult = await lab.add(request);
  return { ...request, prevResult, port: prevResult.interfaces?.[1]?.name };
}
