/** What each runtime does that another does differently: how it chooses, what it passes, where it keeps things. */
import type { CniArgs, JsonObject, JsonValue } from '@heddle/cni';
import { isJsonObject } from '@heddle/cni';
import { SENT_BY } from '../audit/known/sent-capabilities.ts';
import type { RuntimeName } from '../audit/model/selection.ts';

/** A runtime whose point of view can be taken. The kubelet has none of its own: it asks one of the others. */
export type Viewpoint = RuntimeName | 'kubelet' | 'heddle';

/** The points of view that are known. */
export const VIEWPOINTS: readonly Viewpoint[] = ['kubelet', 'containerd', 'crio', 'podman', 'heddle'];

/** How a runtime comes from a directory to a file. */
type Choosing =
  /** The first by name; one that cannot be used ends the search. */
  | 'first'
  /** The first by name that can be used. */
  | 'first usable'
  /** The network that is asked for; lists before single plugins. */
  | 'by name'
  /** The network that is asked for; only lists count. */
  | 'by name, lists only';

/** See the file's comment. Texts in angle brackets stand for what only a running container has. */
export interface RuntimeProfile {
  readonly name: Viewpoint;
  readonly title: string;
  readonly choosing: Choosing;
  /** How it chooses, as a sentence. */
  readonly chooses: string;
  /** The capabilities that it passes; nothing for one that passes what it is told to. */
  readonly sends?: readonly string[];
  /** Where it looks for plugins, unless it is told otherwise. */
  readonly path: readonly string[];
  readonly cacheDir: string;
  readonly containerID: string;
  readonly netns: string;
  readonly ifName: string;
  readonly args: CniArgs;
  /** The network that is meant when none is named. */
  readonly usualNetwork?: string;
  /** What else it does in its own way, each a sentence. */
  readonly ways: readonly string[];
  /** Arguments of capabilities as it spells them. */
  readonly spell: (args: JsonObject) => JsonObject;
}

const asGiven = (args: JsonObject): JsonObject => args;

const KUBERNETES_ARGS: CniArgs = [
  ['IgnoreUnknown', '1'],
  ['K8S_POD_NAMESPACE', '<namespace>'],
  ['K8S_POD_NAME', '<pod>'],
  ['K8S_POD_INFRA_CONTAINER_ID', '<sandbox id>'],
  ['K8S_POD_UID', '<pod uid>'],
];

const CONTAINERD: RuntimeProfile = {
  name: 'containerd',
  title: 'containerd',
  choosing: 'first',
  chooses:
    'takes the first of *.conf, *.conflist and *.json by file name, and has no network at all when it cannot use that one',
  sends: SENT_BY.containerd,
  path: ['/opt/cni/bin'],
  cacheDir: '/var/lib/cni',
  containerID: '<sandbox id>',
  netns: '/var/run/netns/cni-<uuid>',
  ifName: 'eth0',
  args: KUBERNETES_ARGS,
  ways: [
    'It attaches lo by itself at the same time, as network cni-loopback of version 0.3.1: a plugin "loopback" must be installed.',
    'It writes members of portMappings, bandwidth and dns with a capital: HostPort, ContainerPort. Plugins must not mind.',
    'The pairs of CNI_ARGS come in any order.',
    "The Pod's address is that of the interface eth0 in the result; addresses without an interface are not found.",
    'With max_conf_num above 1 it attaches the next files too, as eth1 and so on.',
    'DEL may come three times, the later ones without CNI_NETNS and without prevResult.',
    'Directories are those of its configuration: conf_dir, and bin_dir or bin_dirs.',
  ],
  spell: (args) =>
    Object.fromEntries(
      Object.entries(args).map(([name, value]) => [
        name,
        CAPITALISED.includes(name) ? capitalised(value) : value,
      ]),
    ),
};

const CRIO: RuntimeProfile = {
  name: 'crio',
  title: 'CRI-O',
  choosing: 'first usable',
  chooses:
    'takes the network that cni_default_network names, else the first of *.conf, *.conflist and *.json by file name that it can use',
  sends: SENT_BY.crio,
  path: ['/opt/cni/bin'],
  cacheDir: '/var/lib/cni',
  containerID: '<sandbox id>',
  netns: '/var/run/netns/<uuid>',
  ifName: 'eth0',
  args: KUBERNETES_ARGS,
  ways: [
    'It passes over files that it cannot use, with a warning in its log.',
    'It runs CHECK when the kubelet asks for the state of a sandbox, from version 0.4.0 of the network on.',
    'Directories are those of its configuration: network_dir and plugin_dirs.',
  ],
  spell: asGiven,
};

const PODMAN: RuntimeProfile = {
  name: 'podman',
  title: 'Podman',
  choosing: 'by name, lists only',
  chooses: 'takes networks by name, from *.conflist only; without --network the one that is called "podman"',
  sends: SENT_BY.podman,
  path: ['/usr/local/libexec/cni', '/usr/libexec/cni', '/usr/local/lib/cni', '/usr/lib/cni', '/opt/cni/bin'],
  cacheDir: '/var/lib/cni',
  containerID: '<container id>',
  netns: '/run/netns/netns-<uuid>',
  ifName: 'eth0',
  args: [
    ['IgnoreUnknown', '1'],
    ['K8S_POD_NAME', '<container name>'],
  ],
  usualNetwork: 'podman',
  ways: [
    'It has to be told to use CNI: network_backend = "cni" in containers.conf. Its newer releases have netavark only.',
    'It asks every plugin of every list for its versions first; a list with a plugin that is missing does not exist for it.',
    'One fixed address, and a fixed MAC, come in CNI_ARGS as IP and MAC; two addresses come as the capability ips.',
    'Further networks of a container are eth1 and so on.',
  ],
  spell: asGiven,
};

const KUBELET: RuntimeProfile = {
  ...CONTAINERD,
  name: 'kubelet',
  title: 'the kubelet (through containerd)',
  chooses: `reads no files: it asks its container runtime, and containerd ${CONTAINERD.chooses}`,
  ways: [
    'With CRI-O as its runtime, see --against crio.',
    'hostPort, the bandwidth annotations and dnsConfig of a Pod become portMappings, bandwidth and dns.',
    ...CONTAINERD.ways,
  ],
};

const HEDDLE: RuntimeProfile = {
  name: 'heddle',
  title: 'heddle',
  choosing: 'by name',
  chooses:
    'takes the network that is named, lists before single plugins; without a name the first by file name',
  path: ['/opt/cni/bin'],
  cacheDir: '/var/lib/cni',
  containerID: '<container id>',
  netns: '/run/netns/<pod>',
  ifName: 'eth0',
  args: [],
  ways: [],
  spell: asGiven,
};

/** The profile of each. */
export const PROFILES: Readonly<Record<Viewpoint, RuntimeProfile>> = {
  kubelet: KUBELET,
  containerd: CONTAINERD,
  crio: CRIO,
  podman: PODMAN,
  heddle: HEDDLE,
};

/** What comes from structures of Go without names for JSON. */
const CAPITALISED: readonly string[] = ['portMappings', 'bandwidth', 'dns'];

function capitalised(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((each: JsonValue) => capitalised(each));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key === 'hostIP' ? 'HostIP' : `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`,
      each,
    ]),
  );
}
