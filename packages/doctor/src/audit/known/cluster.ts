/** The networks of clusters, as their files on a node have them. */
import { type KnownPlugin, members } from './known-plugin.ts';

/** Plugins that make the network of a cluster, and those that only they call. */
export const CLUSTER_PLUGINS: readonly KnownPlugin[] = [
  {
    ...{ type: 'calico', vendor: 'Calico', role: 'main', addresses: 'filled' },
    isCluster: true,
    enforcesPolicy: true,
    capabilities: ['bandwidth', 'portMappings', 'io.kubernetes.cri.pod-annotations'],
    members: members({
      text: 'log_level log_file_path etcd_authority etcd_ca_cert_file etcd_cert_file etcd_discovery_srv etcd_endpoints etcd_key_file etcd_scheme nodename nodename_file hostname datastore_type endpoint_status_dir vxlan_mac_prefix mode assign_ipv4 assign_ipv6 loopback_name',
      number:
        'log_file_max_size log_file_max_age log_file_max_count mtu num_queues policy_setup_timeout_seconds vxlan_vni windows_pod_deletion_timestamp_timeout',
      flag: 'nodename_file_optional windows_use_single_network include_default_routes require_mtu_file',
      object: 'policy kubernetes container_settings feature_control sysctl',
      list: 'ready_gates',
      any: 'options',
    }),
  },
  {
    ...{ type: 'calico-ipam', vendor: 'Calico', role: 'ipam', addresses: 'own' },
    ipamMembers: members({
      text: 'name subnet assign_ipv4 assign_ipv6 ipam_lock_file',
      list: 'ipv4_pools ipv6_pools',
    }),
  },
  {
    ...{ type: 'cilium-cni', vendor: 'Cilium', role: 'either', addresses: 'own' },
    isCluster: true,
    enforcesPolicy: true,
    mapsPorts: true,
    members: members({
      number: 'mtu',
      flag: 'enable-route-mtu enable-debug',
      object: 'eni azure alibaba-cloud',
      text: 'log-format log-file chaining-mode',
    }),
  },
  {
    ...{ type: 'weave-net', vendor: 'Weave Net', role: 'main', addresses: 'own' },
    isCluster: true,
    enforcesPolicy: true,
    members: members({ flag: 'hairpinMode isGateway ipMasq', text: 'bridgeName bridge', object: 'delegate' }),
  },
  {
    ...{ type: 'weave-ipam', vendor: 'Weave Net', role: 'ipam', addresses: 'own' },
  },
  {
    ...{ type: 'ovn-k8s-cni-overlay', vendor: 'OVN-Kubernetes', role: 'main', addresses: 'own' },
    isCluster: true,
    enforcesPolicy: true,
    mapsPorts: true,
    members: members({
      text: 'topology netAttachDefName subnets excludeSubnets joinSubnet physicalNetworkName role reservedSubnets infrastructureSubnets defaultGatewayIPs transitSubnet deviceID logFile logLevel transport',
      number: 'mtu vlanID logfile-maxsize logfile-maxbackups logfile-maxage networkID',
      flag: 'allowPersistentIPs primaryNetwork',
      object: 'evpn',
      any: 'ipAMType',
    }),
  },
  {
    ...{ type: 'antrea', vendor: 'Antrea', role: 'main', addresses: 'filled' },
    isCluster: true,
    enforcesPolicy: true,
    members: members({ text: 'networkType deviceID mainInterfaceName', number: 'mtu vlan' }),
    ipamMembers: members({ list: 'ippools routes addresses', object: 'dns' }),
  },
  {
    ...{ type: 'aws-cni', vendor: 'AWS VPC CNI', role: 'main', addresses: 'own' },
    isCluster: true,
    capabilities: ['io.kubernetes.cri.pod-annotations'],
    members: members({
      text: 'vethPrefix podSGEnforcingMode pluginLogFile pluginLogLevel',
      'text or number': 'mtu',
    }),
  },
  {
    ...{ type: 'egress-cni', vendor: 'AWS VPC CNI', role: 'meta', addresses: 'delegate' },
    members: members({
      'text or number': 'mtu',
      text: 'enabled randomizeSNAT nodeIP ifName pluginLogFile pluginLogLevel',
    }),
  },
  {
    ...{ type: 'azure-vnet', vendor: 'Azure CNI', role: 'main', addresses: 'own' },
    isCluster: true,
    enforcesPolicy: true,
    capabilities: ['portMappings', 'dns'],
    members: members({
      text: 'description mode master adapterName bridge logLevel logTarget infraVnetAddressSpace ipv6Mode serviceCidrs vnetCidrs cnsurl executionMode',
      list: 'podNamespaceForDualNetwork ipsToRouteViaHost AdditionalArgs',
      flag: 'multiTenancy enableSnatOnHost enableExactMatchForPodName disableHairpinOnHostInterface disableIPTableLock',
      object: 'windowsSettings',
      number: 'mtu',
    }),
  },
  {
    ...{ type: 'azure-vnet-ipam', vendor: 'Azure CNI', role: 'ipam', addresses: 'own' },
    ipamMembers: members({ text: 'mode environment addressSpace subnet ipAddress queryInterval' }),
  },
  {
    ...{ type: 'azure-cns', vendor: 'Azure CNI', role: 'ipam', addresses: 'own' },
    ipamMembers: members({ text: 'mode environment addressSpace subnet ipAddress queryInterval' }),
  },
  {
    ...{ type: 'azure-ipam', vendor: 'Azure CNI', role: 'ipam', addresses: 'own' },
    ipamMembers: members({ text: 'mode environment addressSpace subnet ipAddress queryInterval' }),
  },
  {
    ...{ type: 'cni-kindnet', vendor: 'kindnet', role: 'main', addresses: 'own' },
    isCluster: true,
    mapsPorts: true,
  },
  {
    ...{ type: 'kube-ovn', vendor: 'Kube-OVN', role: 'either', addresses: 'own' },
    isCluster: true,
    enforcesPolicy: true,
    members: members({
      text: 'server_socket provider deviceID vhost_user_socket_name vhost_user_socket_volume_name vhost_user_socket_consumption logical_router',
      number: 'mtu',
      list: 'routes',
    }),
    ipamMembers: members({ text: 'server_socket provider v4_subnet', list: 'routes' }),
  },
  {
    ...{ type: 'gke', vendor: 'GKE', role: 'meta', addresses: 'delegate' },
    isCluster: true,
  },
  {
    ...{ type: 'nsx', vendor: 'NSX Container Plugin', role: 'main', addresses: 'own' },
    isCluster: true,
    enforcesPolicy: true,
  },
  {
    ...{ type: 'terway', vendor: 'Terway', role: 'main', addresses: 'own' },
    isCluster: true,
    enforcesPolicy: true,
  },
  {
    ...{ type: 'openshift-sdn', vendor: 'OpenShift SDN', role: 'main', addresses: 'own' },
    isCluster: true,
    enforcesPolicy: true,
    members: members({ number: 'mtu' }),
  },
  {
    ...{ type: 'vpc-branch-eni', vendor: 'Amazon ECS', role: 'main', addresses: 'own' },
  },
  {
    ...{ type: 'vpc-shared-eni', vendor: 'Amazon ECS', role: 'main', addresses: 'own' },
  },
  {
    ...{ type: 'ecs-bridge', vendor: 'Amazon ECS', role: 'main', addresses: 'delegate' },
  },
  {
    ...{ type: 'ecs-eni', vendor: 'Amazon ECS', role: 'main', addresses: 'own' },
  },
  {
    ...{ type: 'ecs-ipam', vendor: 'Amazon ECS', role: 'ipam', addresses: 'own' },
  },
  {
    ...{ type: 'tke-bridge', vendor: 'Tencent TKE', role: 'main', addresses: 'filled' },
    isCluster: true,
  },
  {
    ...{ type: 'tke-route-eni', vendor: 'Tencent TKE', role: 'main', addresses: 'own' },
    isCluster: true,
  },
  {
    ...{ type: 'tke-eni-ipamc', vendor: 'Tencent TKE', role: 'ipam', addresses: 'own' },
  },
  {
    ...{ type: 'oci', vendor: 'Oracle OKE', role: 'main', addresses: 'own' },
    isCluster: true,
  },
  {
    ...{ type: 'oci-ptp', vendor: 'Oracle OKE', role: 'main', addresses: 'delegate' },
    isCluster: true,
  },
  {
    ...{ type: 'oci-ipvlan', vendor: 'Oracle OKE', role: 'main', addresses: 'delegate' },
    isCluster: true,
  },
  {
    ...{ type: 'oci-ipam', vendor: 'Oracle OKE', role: 'ipam', addresses: 'own' },
  },
];
