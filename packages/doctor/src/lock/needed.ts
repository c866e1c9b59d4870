/** What the kernel must be able to do for the plugins of networks. Of plugins that nobody here knows, nothing is known. */
import type { NetworkConfigList, PluginConfig } from '@heddle/cni';
import { delegatesOf } from '../programs/delegates.ts';

/** The features that plugins of these networks use, in order. */
export function neededFeatures(lists: readonly NetworkConfigList[]): readonly string[] {
  const plugins = lists.flatMap(({ plugins: all }) => all);
  return [...new Set(plugins.flatMap(featuresOf))].toSorted();
}

function featuresOf(plugin: PluginConfig): readonly string[] {
  const types = [plugin.type, ...delegatesOf(plugin).map(({ type }) => type)];
  return [
    ...types.flatMap((type) => BY_TYPE.get(type) ?? []),
    ...(plugin.raw['ipMasq'] === true ? ['nft nat'] : []),
    ...(typeof plugin.raw['vlan'] === 'number' && plugin.type === 'bridge' ? ['link bridge with VLANs'] : []),
  ];
}

const BY_TYPE: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    bridge: ['link bridge', 'link veth'],
    ptp: ['link veth'],
    macvlan: ['link macvlan'],
    ipvlan: ['link ipvlan'],
    vlan: ['link vlan'],
    vrf: ['link vrf'],
    dummy: ['link dummy'],
    portmap: ['nft nat'],
    firewall: ['nft filter'],
    bandwidth: ['link ifb', 'tc ingress', 'tc tbf'],
    calico: ['link veth'],
    'cilium-cni': ['link veth'],
    antrea: ['link veth'],
    'aws-cni': ['link veth'],
  }),
);
