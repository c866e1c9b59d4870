/**
 * What plugins, runtimes, the kubelet and the kernel write when a container's network fails, by the words that tell it:
 * which rule it is a case of, and in plain words what happened and what to do. More particular words come first.
 */
import { doctorRule } from '../checks/check.ts';
import type { Rule } from '../rule.ts';

/** One message. Names of groups in its pattern may be used in its texts as `{name}`. */
export interface KnownMessage {
  readonly pattern: RegExp;
  /** Whether other work fails in these words, too: the line must then be about the network of a container. */
  readonly isGeneric?: true;
  /** The rule that looks for the cause on the node, or one of `LOG_RULES` where a log is the only sign. */
  readonly id: string;
  readonly what: string;
  readonly remedy: string;
}

function logRule(rule: Omit<Rule, 'command' | 'severity'> & { readonly severity?: Rule['severity'] }): Rule {
  return { ...doctorRule({ severity: 'error', ...rule }), command: 'doctor logs' };
}

/** What only logs tell. */
export const LOG_RULES: readonly Rule[] = [
  logRule({
    id: 'log/name-taken',
    title: 'The interface is there already',
    explains:
      'ADD found an interface of that name, or the same container attached already: two configurations attach to one interface name, or an earlier attempt was not taken down.',
  }),
  logRule({
    id: 'log/bridge-address',
    title: 'The bridge has an address of another network',
    explains:
      'The bridge of the network exists with another address than the configuration asks for: it was made by an earlier configuration, or the subnet of the node has changed.',
  }),
  logRule({
    id: 'log/api-server',
    title: 'A plugin cannot reach or convince the API server',
    explains:
      "The plugin asks the API server and gets no answer, or is refused: its token has expired, the service's address does not work from the node, the server is down.",
  }),
  logRule({
    id: 'log/port-taken',
    title: 'A host port is taken',
    explains: 'Two containers, or a container and a process of the node, ask for one port.',
  }),
  logRule({
    id: 'log/iptables',
    title: 'iptables failed',
    explains:
      'A plugin runs iptables, which is missing, waits for a lock, meets the other kind of tables, or lacks a module of the kernel.',
  }),
  logRule({
    id: 'log/kernel-support',
    title: 'The kernel lacks what a plugin needs',
    explains:
      'The kernel does not know a kind of link, table or operation: a module is not installed or may not be loaded.',
  }),
  logRule({
    id: 'log/namespace',
    title: 'The namespace is gone or is none',
    explains:
      'The container ended while it was being attached or detached, or the path leads to a file that is no namespace any more (after a reboot).',
    severity: 'warning',
  }),
  logRule({
    id: 'log/cache-damaged',
    title: 'The result cache is damaged',
    explains:
      'A file in the cache is empty or cut off, after a crash or a full disk. Some runtimes then never get to delete the container.',
  }),
  logRule({
    id: 'log/disk',
    title: 'The disk is full, or a limit is reached',
    explains: 'No space, no inodes, or too many open files or watches.',
  }),
  logRule({
    id: 'log/timeout',
    title: 'A plugin did not end in time',
    explains:
      'The runtime gave up waiting. A plugin that waits for a daemon, an API server, a lock or duplicate address detection looks like this.',
  }),
  logRule({
    id: 'log/no-reason',
    title: 'A plugin failed without a reason',
    explains:
      'It was killed, crashed, or printed something else than an error of CNI. Its own log, or the kernel log (out of memory, seccomp), tells more.',
  }),
  logRule({
    id: 'log/teardown',
    title: 'A container could not be detached',
    explains:
      'DEL failed. The runtime tries again and again; until then the container is stuck in termination, and its address stays held.',
    severity: 'warning',
  }),
  logRule({
    id: 'log/unknown',
    title: 'A failure of CNI that is not known',
    explains: 'A line tells that a plugin failed, in words that are not among those known here.',
    severity: 'warning',
  }),
];

/** See the file's comment. */
export const MESSAGES: readonly KnownMessage[] = [
  {
    pattern: /failed to find plugin "(?<type>[^"]+)" in path \[(?<path>[^\]]*)\]/,
    id: 'program/missing',
    what: 'the plugin {type} is not installed in {path}',
    remedy:
      'install the plugins of the node\'s network there; "heddle doctor" says whether a file is in the way',
  },
  {
    isGeneric: true,
    pattern: /(?<![^\s"'(])(?<path>\/[^\s:]+): exec format error|exec format error/,
    id: 'program/unusable',
    what: 'a plugin is for another processor, or is no program: {path}',
    remedy: 'install the plugins that are built for this processor',
  },
  {
    pattern: /fork\/exec (?<path>\S+): (?<why>permission denied|no such file or directory|text file busy)/,
    id: 'program/unusable',
    what: '{path} cannot be started: {why}',
    remedy: 'mode 755, no noexec mount, and its interpreter installed; "heddle doctor" says which it is',
  },
  {
    pattern: /no IP addresses available in (?:range set|network)(?:: (?<range>[\da-fA-F.:,-]+))?/,
    id: 'pool/exhausted',
    what: 'all addresses of the pool are held {range}',
    remedy:
      '"heddle doctor" says how many are held for containers that are gone; `heddle doctor --fix` frees those',
  },
  {
    pattern:
      /failed to assign an IP address to container|no available IP addresses|Failed to allocate IP|ipam: no free/i,
    id: 'pool/exhausted',
    what: 'no address could be had for the container',
    remedy: "see the log of the network's own address manager: its pool may be used up, or it does not run",
  },
  {
    pattern:
      /(?<![\da-fA-F.:])(?<addr>[\da-fA-F.:]+) has been allocated to (?<holder>\S+?), duplicate allocation is not allowed|duplicate allocation is not allowed/,
    id: 'pool/leaked',
    what: 'the container holds an address already ({addr}): an earlier attempt was not taken down',
    remedy:
      'delete the container in the runtime, so that DEL runs; `heddle doctor --fix` frees what belongs to containers that are gone',
  },
  {
    pattern: /requested IP address (?<addr>\S+) is not available/,
    id: 'pool/exhausted',
    what: 'the address {addr} that was asked for is held by somebody else',
    remedy: 'ask for another, or see who holds it: `heddle ls`',
  },
  {
    pattern: /(?<open>open|stat) (?<path>\/run\/flannel\/subnet\.env): no such file/,
    id: 'network/daemon-absent',
    what: 'flanneld has not come up on this node: {path} is not there',
    remedy: 'see the log of flanneld: mostly it does not reach the API server, or the node has no podCIDR',
  },
  {
    pattern: /(?<path>\/var\/lib\/calico\/nodename): no such file/,
    id: 'network/daemon-absent',
    what: 'calico-node has not come up on this node: {path} is not there',
    remedy:
      'see why the pod calico-node does not run here; if Calico is not in use any more, remove its file from /etc/cni/net.d',
  },
  {
    pattern:
      /(?:dial unix|connect:?) (?<path>\/\S+?\.sock)\S*: connect: (?<why>no such file or directory|connection refused)/,
    id: 'network/daemon-absent',
    what: 'the daemon behind {path} does not run ({why})',
    remedy:
      'see why it does not: Cilium and Antrea agents, Multus, the DHCP daemon (`heddle dhcp`) have such sockets',
  },
  {
    pattern: /Cilium API client timeout exceeded|unable to connect to Cilium (?:daemon|agent)/i,
    id: 'network/daemon-absent',
    what: 'the Cilium agent does not answer',
    remedy: 'see why the pod cilium does not run on this node',
  },
  {
    pattern: /127\.0\.0\.1:6784\S*:.*(?:connection refused|timeout)/,
    id: 'network/daemon-absent',
    what: 'the Weave Net router does not run on this node',
    remedy: 'see the pod weave-net; if Weave Net is not in use any more, remove its file from /etc/cni/net.d',
  },
  {
    pattern: /(?:127\.0\.0\.1|localhost):(?:50051|10090)\S*.*(?:connection refused|Unavailable)/,
    id: 'network/daemon-absent',
    what: "the address manager of the cloud's network does not run on this node",
    remedy: 'see the pod aws-node or azure-cns on this node',
  },
  {
    pattern:
      /(?:open|stat|read) (?<path>\S*kubeconfig\S*): (?<why>permission denied|no such file or directory)/,
    id: 'directory/credentials',
    what: 'the plugin cannot read {path}: {why}',
    remedy:
      'restart the pod that installs the plugin on this node; the file should be readable by root (mode 600)',
  },
  {
    isGeneric: true,
    pattern:
      /(?:error getting ClusterInformation|connection is unauthorized|Unauthorized\b|the server has asked for the client to provide credentials|forbidden: User "system:)/,
    id: 'log/api-server',
    what: 'the API server refuses the plugin: its token is not valid (any more)',
    remedy: 'restart the pod that installs the plugin on this node, which writes a fresh kubeconfig',
  },
  {
    isGeneric: true,
    pattern:
      /(?:Get|Post|dial tcp)\s+"?https?:\/\/(?<server>[\w.:[\]-]+)\/\S*.*(?:connection refused|i\/o timeout|no route to host|deadline exceeded|TLS handshake timeout)/,
    id: 'log/api-server',
    what: 'the plugin does not reach the API server at {server}',
    remedy: 'see that the address works from the node: kube-proxy, the route, a firewall',
  },
  {
    pattern: /incompatible CNI versions; config is (?<wanted>\S+?), plugin supports (?<spoken>\[[^\]]*\])/,
    id: 'program/version',
    what: 'a plugin does not speak version {wanted} of the network; it speaks {spoken}',
    remedy: 'lower "cniVersion" in the network, or install newer plugins',
  },
  {
    pattern: /plugin (?<type>\S+) does not support config version (?<wanted>"[^"]*")/,
    id: 'program/version',
    what: 'the plugin {type} does not speak version {wanted} of the network',
    remedy: 'lower "cniVersion" in the network, or install a newer {type}',
  },
  {
    pattern: /unsupported CNI result version (?<wanted>"[^"]*")|invalid (?:cniVersion|version)/i,
    id: 'program/version',
    what: 'a version of CNI is not known {wanted}',
    remedy: 'correct "cniVersion": 0.3.1, 0.4.0, 1.0.0 and 1.1.0 are usual',
  },
  {
    pattern:
      /(?:[Ee]rror (?:loading|parsing)|failed to (?:load|parse)|[Ee]rror validating) (?:CNI )?config(?:uration)?(?: list)?(?: file)?:? (?<file>\/\S+?)[:\s]/,
    id: 'syntax/invalid',
    what: '{file} is no valid configuration',
    remedy: '`heddle audit {file}` shows where',
  },
  {
    pattern: /error parsing configuration(?: list)?: (?<why>.*?)(?:["']?$)/,
    id: 'syntax/invalid',
    what: 'a configuration is not valid: {why}',
    remedy: '`heddle audit` shows which, and where',
  },
  {
    pattern:
      /cni plugin not initialized|cni config uninitialized|no networks found in (?<dir>\S+)|[Nn]o CNI configuration file in (?<where>\S+?)\.|no (?:network|net) config(?:uration)?s? found in (?<in>\S+)|NetworkPluginNotReady|NetworkReady=false/,
    id: 'network/none',
    what: 'the runtime has no usable network configuration',
    remedy:
      'install a CNI, or see why its installer has not written its file; `heddle audit` looks at those that are there',
  },
  {
    isGeneric: true,
    pattern:
      /container veth name (?:provided )?\(?"?(?<name>[\w.-]+)"?\)? (?:(?:peer )?provided (?:\("?[\w.-]+"?\) )?)?already exists|(?:link|interface|device) (?<link>\S+) already exists|peer of \S+ not found|failed to create veth pair: file exists/i,
    id: 'log/name-taken',
    what: 'the interface {name}{link} is there already',
    remedy:
      'see that one file only defines this network, and that earlier attempts were deleted; `heddle audit` finds two files of one name',
  },
  {
    pattern: /(?<![\w.-])(?<bridge>[\w.-]+)"? already has an IP address different from (?<addr>\S+)/,
    id: 'log/bridge-address',
    what: 'the bridge {bridge} has another address than {addr}',
    remedy:
      'with no container on it: `ip link delete {bridge}`, and the next one makes it anew; else go back to its former subnet',
  },
  {
    isGeneric: true,
    pattern:
      /(?:bind: |listen \S+ \S+ )?address already in use|cannot (?:open|expose) hostport|host port .* (?:taken|in use|already)|rootlessport cannot expose/i,
    id: 'log/port-taken',
    what: 'a host port is taken already',
    remedy:
      'see who has it: `ss -ltnup`, `heddle show`; "heddle doctor" finds ports of containers that are gone',
  },
  {
    pattern: /Another app is currently holding the xtables lock/,
    id: 'log/iptables',
    what: 'iptables waited in vain for the lock that another iptables held',
    remedy:
      'see who changes so many rules (kube-proxy with very many services does); with Heddle, "backend": "nftables" needs no lock',
  },
  {
    pattern: /exec: "?(?<program>ip6?tables[\w-]*|nft|ipset|conntrack)"?: executable file not found/,
    id: 'log/iptables',
    what: 'the program {program} is not installed, which a plugin runs',
    remedy: 'install the package of {program}',
  },
  {
    isGeneric: true,
    pattern:
      /(?:iptables|ip6tables)[^\n]*(?:can't initialize|Table does not exist|RULE_APPEND failed|is incompatible, use 'nft' tool|No chain\/target\/match by that name)/,
    id: 'log/iptables',
    what: 'iptables meets tables of the other kind, or the kernel lacks a module',
    remedy:
      'keep to one kind of iptables on the node (iptables -V tells), and load its modules (ip_tables, iptable_nat, nf_nat)',
  },
  {
    isGeneric: true,
    pattern: /operation not supported|protocol not supported|address family not supported/,
    id: 'log/kernel-support',
    what: 'the kernel does not know a kind of link or an operation that a plugin needs',
    remedy:
      "install the package with the kernel's further modules (linux-modules-extra or the like); for IPv6, see that it is not disabled",
  },
  {
    pattern:
      /unknown FS magic on "(?<path>[^"]+)"|[Ff]ailed to (?:open|Statfs) netns "?(?<netns>[^":\s]+)|failed to Statfs "(?<gone>[^"]+)"/,
    id: 'log/namespace',
    what: 'the namespace {path}{netns}{gone} is not there any more',
    remedy:
      'usually nothing: the container is gone. When a container cannot be deleted by it, `heddle gc NETWORK --keep-live`',
  },
  {
    pattern:
      /failed to unmarshal cached network|unexpected end of JSON input.*cache|cache.*unexpected end of JSON input/,
    id: 'log/cache-damaged',
    what: 'a file of the result cache is empty or cut off',
    remedy:
      'remove the file of that container in /var/lib/cni/results (it is named NETWORK-CONTAINER-INTERFACE); Heddle deletes without it',
  },
  {
    isGeneric: true,
    pattern: /no space left on device|disk quota exceeded|too many open files|inotify.*(?:limit|instances)/i,
    id: 'log/disk',
    what: 'a disk is full, or a limit of files or watches is reached',
    remedy:
      '`df -h` and `df -i` of /var/lib/cni, /run and /var/lib; for watches, sysctl fs.inotify.max_user_instances',
  },
  {
    pattern:
      /(?<op>mkdir|open|stat|unlink|rename|write) (?<path>\/(?:var\/lib\/cni|etc\/cni|run\/cni|opt\/cni|var\/run)\S*?): (?<why>permission denied|read-only file system|operation not permitted)/,
    id: 'directory/unusable',
    what: '{path} cannot be used: {why}',
    remedy:
      'see the mode and owner of {path}, whether its file system is read-only, and denials of SELinux or AppArmor',
  },
  {
    pattern: /apparmor="DENIED"(?=.*(?:cni|netns|container))|avc:\s+denied(?=.*(?:cni|netns|container))/i,
    id: 'directory/denied',
    what: 'a security module of the kernel denied something to a plugin or the runtime',
    remedy:
      '`restorecon -Rv /opt/cni /etc/cni /var/lib/cni` for SELinux; see the profile that is named for AppArmor',
  },
  {
    pattern: /nf_conntrack: table full, dropping packet/,
    id: 'kernel/conntrack-full',
    what: 'the table of tracked connections is full: packets are dropped',
    remedy: 'raise net.netfilter.nf_conntrack_max, and find out who opens so many connections',
  },
  {
    pattern:
      /IPv[46]:? (?:eth\S*|\S+): IPv6 duplicate address (?<addr>\S+)|duplicate address (?<other>\S+) detected/i,
    id: 'address/duplicate',
    what: 'somebody else has the address {addr}{other} too',
    remedy: '"heddle doctor" says by which MAC address; keep the range out of what others give out',
  },
  {
    pattern:
      /signal: (?<signal>killed|segmentation fault|aborted|bus error)|netplugin failed with no error message(?:: (?<tail>[^"]{0,80}))?/,
    id: 'log/no-reason',
    what: 'a plugin was killed or crashed {signal}{tail}',
    remedy:
      'see the kernel log (out of memory, seccomp); run `CNI_COMMAND=VERSION /opt/cni/bin/PLUGIN`; install it anew',
  },
  {
    pattern: /netplugin failed but error parsing its diagnostic message (?<said>"[^"]{0,80}"?)/,
    id: 'log/no-reason',
    what: 'a plugin failed, and printed no error of CNI but {said}',
    remedy: 'see the log of that plugin; one that logs to stdout breaks the protocol',
  },
  {
    isGeneric: true,
    pattern:
      /(?:context deadline exceeded|timed out|timeout).*(?:cni|network|sandbox)|(?:cni|network|sandbox).*(?:context deadline exceeded|timed out)/i,
    id: 'log/timeout',
    what: 'attaching or detaching a container took too long',
    remedy:
      'see what the plugin waits for: its daemon, the API server, a lock; `heddle status NETWORK` asks whether it is ready',
  },
  {
    pattern: /failed to (?:destroy network|teardown pod|remove pod).*|failed \(delete\)/,
    id: 'log/teardown',
    what: 'a container could not be detached',
    remedy:
      'see the reason at the end of the line; the runtime tries again, and `heddle gc NETWORK --keep-live` frees what stays',
  },
  {
    pattern:
      /plugin type="(?<type>[^"]+)"(?: name="[^"]*")? failed \(\w+\): (?<why>.*)|(?:failed to set ?up network|error adding (?:pod|container)[^:]*network)[^:]*: (?<reason>.*)/,
    id: 'log/unknown',
    what: 'attaching failed: {type} {why}{reason}',
    remedy: 'see the log of that plugin; "heddle doctor" looks at the node',
  },
];
