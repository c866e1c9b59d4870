/**
 * Well-known plugins of others. Members are those that their releases of the last years decode; one that is not here
 * may be newer, so it is told of only when it looks like a misspelling.
 */
import type { KnownPlugin, Members } from './known-plugin.ts';

const logFiles: Members = {
  log_level: 'text',
  log_file_path: 'text',
  log_file_max_size: 'number',
  log_file_max_age: 'number',
  log_file_max_count: 'number',
};

const etcd: Members = {
  etcd_authority: 'text',
  etcd_ca_cert_file: 'text',
  etcd_cert_file: 'text',
  etcd_discovery_srv: 'text',
  etcd_endpoints: 'text',
  etcd_key_file: 'text',
  etcd_scheme: 'text',
};

const calico: KnownPlugin = {
  ...{
    type: 'calico',
    vendor: 'Calico',
    role: 'main',
    addresses: 'filled',
    isCluster: true,
    enforcesPolicy: true,
  },
  capabilities: ['bandwidth', 'portMappings', 'io.kubernetes.cri.pod-annotations'],
  members: {
    ...{ ...logFiles, ...etcd, mtu: 'number', nodename: 'text', nodename_file: 'text', hostname: 'text' },
    ...{ nodename_file_optional: 'flag', num_queues: 'number', datastore_type: 'text', policy: 'object' },
    ...{
      kubernetes: 'object',
      container_settings: 'object',
      feature_control: 'object',
      windows_use_single_network: 'flag',
    },
    ...{
      include_default_routes: 'flag',
      policy_setup_timeout_seconds: 'number',
      endpoint_status_dir: 'text',
    },
    ...{ require_mtu_file: 'flag', ready_gates: 'list', vxlan_mac_prefix: 'text', vxlan_vni: 'number' },
    ...{
      mode: 'text',
      assign_ipv4: 'text',
      assign_ipv6: 'text',
      windows_pod_deletion_timestamp_timeout: 'number',
    },
    ...{ loopback_name: 'text', options: 'any', sysctl: 'object' },
  },
};

const calicoIpam: KnownPlugin = {
  ...{ type: 'calico-ipam', vendor: 'Calico', role: 'ipam', addresses: 'own' },
  ipamMembers: {
    ...{
      name: 'text',
      subnet: 'text',
      assign_ipv4: 'text',
      assign_ipv6: 'text',
      ipv4_pools: 'list',
      ipv6_pools: 'list',
    },
    ipam_lock_file: 'text',
  },
};

const cilium: KnownPlugin = {
  ...{ type: 'cilium-cni', vendor: 'Cilium', role: 'either', addresses: 'own', isCluster: true },
  ...{ enforcesPolicy: true, mapsPorts: true },
  members: {
    ...{
      mtu: 'number',
      'enable-route-mtu': 'flag',
      eni: 'object',
      azure: 'object',
      'alibaba-cloud': 'object',
    },
    ...{ 'enable-debug': 'flag', 'log-format': 'text', 'log-file': 'text', 'chaining-mode': 'text' },
  },
};

const weave: KnownPlugin = {
  ...{
    type: 'weave-net',
    vendor: 'Weave Net',
    role: 'main',
    addresses: 'own',
    isCluster: true,
    enforcesPolicy: true,
  },
  members: {
    hairpinMode: 'flag',
    bridgeName: 'text',
    bridge: 'text',
    isGateway: 'flag',
    ipMasq: 'flag',
    delegate: 'object',
  },
};

const weaveIpam: KnownPlugin = { type: 'weave-ipam', vendor: 'Weave Net', role: 'ipam', addresses: 'own' };

const multusMembers: Members = {
  ...{ confDir: 'text', cniDir: 'text', binDir: 'text', delegates: 'list', clusterNetwork: 'text' },
  ...{ defaultNetworks: 'list', kubeconfig: 'text', logFile: 'text', logLevel: 'text', logToStderr: 'flag' },
  ...{
    logOptions: 'object',
    readinessindicatorfile: 'text',
    namespaceIsolation: 'flag',
    globalNamespaces: 'text',
  },
  ...{
    systemNamespaces: 'list',
    multusNamespace: 'text',
    retryDeleteOnError: 'flag',
    auxiliaryCNIChainName: 'text',
  },
  ...{
    daemonSocketDir: 'text',
    socketDir: 'text',
    defaultnetworkfile: 'text',
    defaultnetworkwaitseconds: 'number',
  },
  ...{
    multusConfigFile: 'text',
    multusAutoconfigDir: 'text',
    multusMasterCNI: 'text',
    multusConfigPath: 'text',
  },
  ...{ cniConfigDir: 'text', chrootDir: 'text', forceCNIVersion: 'flag', perNodeCertificate: 'object' },
};

const multus: KnownPlugin = {
  ...{
    type: 'multus',
    vendor: 'Multus',
    role: 'main',
    addresses: 'own',
    isCluster: true,
    members: multusMembers,
  },
  ...{
    capabilities: [
      'portMappings',
      'bandwidth',
      'ips',
      'mac',
      'infinibandGUID',
      'deviceID',
      'cni.cncf.io/nad-name',
    ],
  },
};

const multusShim: KnownPlugin = { ...multus, type: 'multus-shim' };

const whereabouts: KnownPlugin = {
  ...{ type: 'whereabouts', vendor: 'Whereabouts', role: 'ipam', addresses: 'own' },
  ipamMembers: {
    ...{
      range: 'text',
      ipRanges: 'list',
      range_start: 'text',
      range_end: 'text',
      exclude: 'list',
      gateway: 'text',
    },
    ...{ routes: 'list', addresses: 'list', datastore: 'text', etcd_host: 'text', etcd_username: 'text' },
    ...{ etcd_password: 'text', etcd_key_file: 'text', etcd_cert_file: 'text', etcd_ca_cert_file: 'text' },
    ...{
      kubernetes: 'object',
      log_file: 'text',
      log_level: 'text',
      configuration_path: 'text',
      dns: 'object',
    },
    ...{ leader_lease_duration: 'number', leader_renew_deadline: 'number', leader_retry_period: 'number' },
    ...{
      enable_overlapping_ranges: 'flag',
      overlapping_ranges: 'flag',
      network_name: 'text',
      node_slice_size: 'text',
    },
    ...{
      reconciler_cron_expression: 'text',
      sleep_for_race: 'number',
      optimistic_ipam: 'flag',
      enable_l3: 'flag',
    },
  },
};

const sriov: KnownPlugin = {
  ...{
    type: 'sriov',
    vendor: 'SR-IOV',
    role: 'main',
    addresses: 'delegate',
    capabilities: ['mac', 'ips', 'deviceID'],
  },
  members: {
    ...{ deviceID: 'text', vlan: 'number', vlanQoS: 'number', vlanProto: 'text', mac: 'text', mtu: 'number' },
    ...{ spoofchk: 'text', trust: 'text', link_state: 'text', min_tx_rate: 'number', max_tx_rate: 'number' },
    ...{
      logLevel: 'text',
      logFile: 'text',
      master: 'text',
      DPDKMode: 'flag',
      VFID: 'number',
      vlanTrunk: 'text',
    },
    resourceName: 'text',
  },
};

const infiniband: KnownPlugin = {
  ...{ type: 'ib-sriov', vendor: 'InfiniBand SR-IOV', role: 'main', addresses: 'delegate' },
  ...{ capabilities: ['infinibandGUID', 'ips', 'deviceID', 'mac'] },
  members: {
    ...{
      deviceID: 'text',
      guid: 'text',
      pkey: 'text',
      link_state: 'text',
      rdmaIsolation: 'flag',
      ibKubernetesEnabled: 'flag',
    },
    vfid: 'number',
  },
};

const ovnKubernetes: KnownPlugin = {
  ...{
    type: 'ovn-k8s-cni-overlay',
    vendor: 'OVN-Kubernetes',
    role: 'main',
    addresses: 'own',
    isCluster: true,
  },
  ...{ enforcesPolicy: true, mapsPorts: true },
  members: {
    ...{
      topology: 'text',
      netAttachDefName: 'text',
      subnets: 'text',
      excludeSubnets: 'text',
      joinSubnet: 'text',
    },
    ...{
      mtu: 'number',
      vlanID: 'number',
      allowPersistentIPs: 'flag',
      physicalNetworkName: 'text',
      role: 'text',
    },
    ...{
      reservedSubnets: 'text',
      infrastructureSubnets: 'text',
      defaultGatewayIPs: 'text',
      transitSubnet: 'text',
    },
    ...{
      deviceID: 'text',
      logFile: 'text',
      logLevel: 'text',
      primaryNetwork: 'flag',
      transport: 'text',
      evpn: 'object',
    },
    ...{
      'logfile-maxsize': 'number',
      'logfile-maxbackups': 'number',
      'logfile-maxage': 'number',
      networkID: 'number',
    },
    ipAMType: 'any',
  },
};

const antrea: KnownPlugin = {
  ...{
    type: 'antrea',
    vendor: 'Antrea',
    role: 'main',
    addresses: 'filled',
    isCluster: true,
    enforcesPolicy: true,
  },
  members: {
    networkType: 'text',
    mtu: 'number',
    vlan: 'number',
    deviceID: 'text',
    mainInterfaceName: 'text',
  },
  ipamMembers: { ippools: 'list', routes: 'list', dns: 'object', addresses: 'list' },
};

const awsMembers: Members = {
  ...{
    vethPrefix: 'text',
    mtu: 'text or number',
    podSGEnforcingMode: 'text',
    pluginLogFile: 'text',
    pluginLogLevel: 'text',
  },
};

const aws: KnownPlugin = {
  ...{
    type: 'aws-cni',
    vendor: 'AWS VPC CNI',
    role: 'main',
    addresses: 'own',
    isCluster: true,
    members: awsMembers,
  },
  capabilities: ['io.kubernetes.cri.pod-annotations'],
};

const egress: KnownPlugin = {
  ...{ type: 'egress-cni', vendor: 'AWS VPC CNI', role: 'meta', addresses: 'delegate' },
  members: {
    ...{ mtu: 'text or number', enabled: 'text', randomizeSNAT: 'text', nodeIP: 'text', ifName: 'text' },
    ...{ pluginLogFile: 'text', pluginLogLevel: 'text' },
  },
};

const azureVnet: KnownPlugin = {
  ...{
    type: 'azure-vnet',
    vendor: 'Azure CNI',
    role: 'main',
    addresses: 'own',
    isCluster: true,
    enforcesPolicy: true,
  },
  ...{ capabilities: ['portMappings', 'dns'] },
  members: {
    ...{
      description: 'text',
      mode: 'text',
      master: 'text',
      adapterName: 'text',
      bridge: 'text',
      logLevel: 'text',
    },
    ...{
      logTarget: 'text',
      infraVnetAddressSpace: 'text',
      ipv6Mode: 'text',
      serviceCidrs: 'text',
      vnetCidrs: 'text',
    },
    ...{
      podNamespaceForDualNetwork: 'list',
      ipsToRouteViaHost: 'list',
      multiTenancy: 'flag',
      enableSnatOnHost: 'flag',
    },
    ...{
      enableExactMatchForPodName: 'flag',
      disableHairpinOnHostInterface: 'flag',
      disableIPTableLock: 'flag',
    },
    ...{
      cnsurl: 'text',
      executionMode: 'text',
      AdditionalArgs: 'list',
      windowsSettings: 'object',
      mtu: 'number',
    },
  },
};

const azureIpamMembers: Members = {
  ...{
    mode: 'text',
    environment: 'text',
    addressSpace: 'text',
    subnet: 'text',
    ipAddress: 'text',
    queryInterval: 'text',
  },
};

const azureIpam: KnownPlugin = {
  ...{
    type: 'azure-vnet-ipam',
    vendor: 'Azure CNI',
    role: 'ipam',
    addresses: 'own',
    ipamMembers: azureIpamMembers,
  },
};

const azureCns: KnownPlugin = { ...azureIpam, type: 'azure-cns' };

const azureDelegatedIpam: KnownPlugin = { ...azureIpam, type: 'azure-ipam' };

const kindnet: KnownPlugin = {
  ...{
    type: 'cni-kindnet',
    vendor: 'kindnet',
    role: 'main',
    addresses: 'own',
    isCluster: true,
    mapsPorts: true,
  },
};

const kubeOvn: KnownPlugin = {
  ...{
    type: 'kube-ovn',
    vendor: 'Kube-OVN',
    role: 'either',
    addresses: 'own',
    isCluster: true,
    enforcesPolicy: true,
  },
  members: {
    ...{
      server_socket: 'text',
      provider: 'text',
      mtu: 'number',
      routes: 'list',
      deviceID: 'text',
      vhost_user_socket_name: 'text',
    },
    ...{
      vhost_user_socket_volume_name: 'text',
      vhost_user_socket_consumption: 'text',
      logical_router: 'text',
    },
  },
  ipamMembers: { server_socket: 'text', provider: 'text', routes: 'list', v4_subnet: 'text' },
};

const ovs: KnownPlugin = {
  ...{
    type: 'ovs',
    vendor: 'ovs-cni',
    role: 'main',
    addresses: 'delegate',
    capabilities: ['mac', 'ips', 'deviceID'],
  },
  members: {
    ...{
      bridge: 'text',
      vlan: 'number',
      mtu: 'number',
      trunk: 'list',
      deviceID: 'text',
      ofport_request: 'number',
    },
    ...{
      interface_type: 'text',
      configuration_path: 'text',
      socket_file: 'text',
      link_state_check_retries: 'number',
    },
    ...{ link_state_check_interval: 'number', OvnPort: 'text', name: 'text' },
  },
};

const bond: KnownPlugin = {
  ...{ type: 'bond', vendor: 'bond-cni', role: 'main', addresses: 'delegate' },
  members: {
    ...{
      mode: 'text',
      links: 'list',
      linksInContainer: 'flag',
      miimon: 'text or number',
      mtu: 'number',
      failOverMac: 'number',
    },
    ...{ xmitHashPolicy: 'text', allSlavesActive: 'number', linksContNs: 'flag' },
  },
};

const istio: KnownPlugin = {
  ...{ type: 'istio-cni', vendor: 'Istio', role: 'meta', addresses: 'delegate' },
  members: {
    ...{
      log_level: 'text',
      log_uds_address: 'text',
      kubernetes: 'object',
      ambient_enabled: 'flag',
      kubeconfig: 'text',
    },
    ...{
      enablement_selectors: 'list',
      exclude_namespaces: 'list',
      cni_agent_run_dir: 'text',
      cni_event_address: 'text',
    },
    ...{ plugin_log_level: 'text', pod_namespace: 'text', native_nftables: 'flag', hostNSEnterExec: 'flag' },
    ...{ ambient_cni_reconcile_pod_rules_on_startup: 'flag' },
  },
};

const linkerd: KnownPlugin = {
  ...{ type: 'linkerd-cni', vendor: 'Linkerd', role: 'meta', addresses: 'delegate' },
  members: {
    log_level: 'text',
    policy: 'object',
    kubernetes: 'object',
    linkerd: 'object',
    'iptables-mode': 'text',
    ipv6: 'flag',
  },
};

const netd: KnownPlugin = {
  ...{ type: 'gke', vendor: 'GKE', role: 'meta', addresses: 'delegate', isCluster: true },
};

const vmware: KnownPlugin = {
  ...{
    type: 'nsx',
    vendor: 'NSX Container Plugin',
    role: 'main',
    addresses: 'own',
    isCluster: true,
    enforcesPolicy: true,
  },
};

const terway: KnownPlugin = {
  ...{
    type: 'terway',
    vendor: 'Terway',
    role: 'main',
    addresses: 'own',
    isCluster: true,
    enforcesPolicy: true,
  },
};

const routes: KnownPlugin = {
  ...{ type: 'route-override', vendor: 'route-override', role: 'meta', addresses: 'delegate' },
  members: {
    ...{ flushroutes: 'flag', flushgateway: 'flag', delroutes: 'list', addroutes: 'list', skipcheck: 'flag' },
  },
};

const dnsname: KnownPlugin = {
  ...{ type: 'dnsname', vendor: 'Podman', role: 'meta', addresses: 'delegate', capabilities: ['aliases'] },
  members: { domainName: 'text', multiDomain: 'flag', remoteServers: 'list' },
};

const isolation: KnownPlugin = {
  type: 'isolation',
  vendor: 'cni-isolation',
  role: 'meta',
  addresses: 'delegate',
};

const rdma: KnownPlugin = {
  ...{ type: 'rdma', vendor: 'RDMA', role: 'meta', addresses: 'delegate', capabilities: ['deviceID'] },
};

const spiderpool: KnownPlugin = {
  ...{ type: 'spiderpool', vendor: 'Spiderpool', role: 'ipam', addresses: 'own' },
  ipamMembers: {
    ...{ log_level: 'text', log_file_path: 'text', log_file_max_size: 'number', log_file_max_age: 'number' },
    ...{
      log_file_max_count: 'number',
      default_ipv4_ippool: 'list',
      default_ipv6_ippool: 'list',
      clean_gateway: 'flag',
    },
    ...{ match_master_subnet: 'flag', ipam_unix_socket_path: 'text' },
  },
};

const coordinator: KnownPlugin = {
  type: 'coordinator',
  vendor: 'Spiderpool',
  role: 'meta',
  addresses: 'delegate',
};

const openshift: KnownPlugin = {
  ...{
    type: 'openshift-sdn',
    vendor: 'OpenShift SDN',
    role: 'main',
    addresses: 'own',
    isCluster: true,
    enforcesPolicy: true,
  },
  members: { mtu: 'number' },
};

const cloudTypes: readonly KnownPlugin[] = [
  { type: 'vpc-branch-eni', vendor: 'Amazon ECS', role: 'main', addresses: 'own' },
  { type: 'vpc-shared-eni', vendor: 'Amazon ECS', role: 'main', addresses: 'own' },
  { type: 'ecs-bridge', vendor: 'Amazon ECS', role: 'main', addresses: 'delegate' },
  { type: 'ecs-eni', vendor: 'Amazon ECS', role: 'main', addresses: 'own' },
  { type: 'ecs-ipam', vendor: 'Amazon ECS', role: 'ipam', addresses: 'own' },
  { type: 'tke-bridge', vendor: 'Tencent TKE', role: 'main', addresses: 'filled', isCluster: true },
  { type: 'tke-route-eni', vendor: 'Tencent TKE', role: 'main', addresses: 'own', isCluster: true },
  { type: 'tke-eni-ipamc', vendor: 'Tencent TKE', role: 'ipam', addresses: 'own' },
  { type: 'oci', vendor: 'Oracle OKE', role: 'main', addresses: 'own', isCluster: true },
  { type: 'oci-ptp', vendor: 'Oracle OKE', role: 'main', addresses: 'delegate', isCluster: true },
  { type: 'oci-ipvlan', vendor: 'Oracle OKE', role: 'main', addresses: 'delegate', isCluster: true },
  { type: 'oci-ipam', vendor: 'Oracle OKE', role: 'ipam', addresses: 'own' },
];

/** Every plugin of others that is known here. */
export const FOREIGN_PLUGINS: readonly KnownPlugin[] = [
  ...[calico, calicoIpam, cilium, weave, weaveIpam, multus, multusShim, whereabouts, sriov, infiniband],
  ...[
    ovnKubernetes,
    antrea,
    aws,
    egress,
    azureVnet,
    azureIpam,
    azureCns,
    azureDelegatedIpam,
    kindnet,
    kubeOvn,
  ],
  ...[ovs, bond, istio, linkerd, netd, vmware, terway, routes, dnsname, isolation, rdma, spiderpool],
  ...[coordinator, openshift, ...cloudTypes],
];
