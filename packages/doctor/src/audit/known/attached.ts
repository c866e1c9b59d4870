/** Plugins for more than one network, for hardware, and those that are appended to the chains of others. */
import { type KnownPlugin, members } from './known-plugin.ts';

/** The shim hands the same configuration to the daemon. */
const MULTUS = {
  isCluster: true,
  capabilities: [
    'portMappings',
    'bandwidth',
    'ips',
    'mac',
    'infinibandGUID',
    'deviceID',
    'cni.cncf.io/nad-name',
  ],
  members: members({
    text: 'confDir cniDir binDir clusterNetwork kubeconfig logFile logLevel readinessindicatorfile globalNamespaces multusNamespace auxiliaryCNIChainName daemonSocketDir socketDir defaultnetworkfile multusConfigFile multusAutoconfigDir multusMasterCNI multusConfigPath cniConfigDir chrootDir',
    list: 'delegates defaultNetworks systemNamespaces',
    flag: 'logToStderr namespaceIsolation retryDeleteOnError forceCNIVersion',
    object: 'logOptions perNodeCertificate',
    number: 'defaultnetworkwaitseconds',
  }),
} as const satisfies Partial<KnownPlugin>;

/** Plugins that stand beside or behind the network of a cluster. */
export const ATTACHED_PLUGINS: readonly KnownPlugin[] = [
  {
    ...{ type: 'multus', vendor: 'Multus', role: 'main', addresses: 'own' },
    ...MULTUS,
  },
  {
    ...{ type: 'multus-shim', vendor: 'Multus', role: 'main', addresses: 'own' },
    ...MULTUS,
  },
  {
    ...{ type: 'whereabouts', vendor: 'Whereabouts', role: 'ipam', addresses: 'own' },
    ipamMembers: members({
      text: 'range range_start range_end gateway datastore etcd_host etcd_username etcd_password etcd_key_file etcd_cert_file etcd_ca_cert_file log_file log_level configuration_path network_name node_slice_size reconciler_cron_expression',
      list: 'ipRanges exclude routes addresses',
      object: 'kubernetes dns',
      number: 'leader_lease_duration leader_renew_deadline leader_retry_period sleep_for_race',
      flag: 'enable_overlapping_ranges overlapping_ranges optimistic_ipam enable_l3',
    }),
  },
  {
    ...{ type: 'sriov', vendor: 'SR-IOV', role: 'main', addresses: 'delegate' },
    capabilities: ['mac', 'ips', 'deviceID'],
    members: members({
      text: 'deviceID vlanProto mac spoofchk trust link_state logLevel logFile master vlanTrunk resourceName',
      number: 'vlan vlanQoS mtu min_tx_rate max_tx_rate VFID',
      flag: 'DPDKMode',
    }),
  },
  {
    ...{ type: 'ib-sriov', vendor: 'InfiniBand SR-IOV', role: 'main', addresses: 'delegate' },
    capabilities: ['infinibandGUID', 'ips', 'deviceID', 'mac'],
    members: members({
      text: 'deviceID guid pkey link_state',
      flag: 'rdmaIsolation ibKubernetesEnabled',
      number: 'vfid',
    }),
  },
  {
    ...{ type: 'ovs', vendor: 'ovs-cni', role: 'main', addresses: 'delegate' },
    capabilities: ['mac', 'ips', 'deviceID'],
    members: members({
      text: 'bridge deviceID interface_type configuration_path socket_file OvnPort name',
      number: 'vlan mtu ofport_request link_state_check_retries link_state_check_interval',
      list: 'trunk',
    }),
  },
  {
    ...{ type: 'bond', vendor: 'bond-cni', role: 'main', addresses: 'delegate' },
    members: members({
      text: 'mode xmitHashPolicy',
      list: 'links',
      flag: 'linksInContainer linksContNs',
      'text or number': 'miimon',
      number: 'mtu failOverMac allSlavesActive',
    }),
  },
  {
    ...{ type: 'istio-cni', vendor: 'Istio', role: 'meta', addresses: 'delegate' },
    members: members({
      text: 'log_level log_uds_address kubeconfig cni_agent_run_dir cni_event_address plugin_log_level pod_namespace',
      object: 'kubernetes',
      flag: 'ambient_enabled native_nftables hostNSEnterExec ambient_cni_reconcile_pod_rules_on_startup',
      list: 'enablement_selectors exclude_namespaces',
    }),
  },
  {
    ...{ type: 'linkerd-cni', vendor: 'Linkerd', role: 'meta', addresses: 'delegate' },
    members: members({ text: 'log_level iptables-mode', object: 'policy kubernetes linkerd', flag: 'ipv6' }),
  },
  {
    ...{ type: 'route-override', vendor: 'route-override', role: 'meta', addresses: 'delegate' },
    members: members({ flag: 'flushroutes flushgateway skipcheck', list: 'delroutes addroutes' }),
  },
  {
    ...{ type: 'dnsname', vendor: 'Podman', role: 'meta', addresses: 'delegate' },
    capabilities: ['aliases'],
    members: members({ text: 'domainName', flag: 'multiDomain', list: 'remoteServers' }),
  },
  {
    ...{ type: 'isolation', vendor: 'cni-isolation', role: 'meta', addresses: 'delegate' },
  },
  {
    ...{ type: 'rdma', vendor: 'RDMA', role: 'meta', addresses: 'delegate' },
    capabilities: ['deviceID'],
  },
  {
    ...{ type: 'spiderpool', vendor: 'Spiderpool', role: 'ipam', addresses: 'own' },
    ipamMembers: members({
      text: 'log_level log_file_path ipam_unix_socket_path',
      number: 'log_file_max_size log_file_max_age log_file_max_count',
      list: 'default_ipv4_ippool default_ipv6_ippool',
      flag: 'clean_gateway match_master_subnet',
    }),
  },
  {
    ...{ type: 'coordinator', vendor: 'Spiderpool', role: 'meta', addresses: 'delegate' },
  },
];
