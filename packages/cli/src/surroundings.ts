/**
 * What the command finds around itself. Everything that a process has only one of (its environment, its
 * streams, its clock, the places of files) comes in here, so that a test can be a machine of its own.
 */
import type { Environment } from '@heddle/cni/runtime';
import type { KernelSession } from '@heddle/netlink';

/** A stream for text. */
export interface TextSink {
  write(text: string): void;
  /** Whether a person reads it. */
  readonly isTerminal: boolean;
  /** Whether that terminal shows colours and weights. */
  readonly isStyled: boolean;
  /** How wide a terminal is. */
  readonly columns?: number | undefined;
}

/** Where things are on this machine. */
export interface Places {
  /** Network configurations, unless NETCONFPATH says otherwise. */
  readonly configDir: string;
  /** Where plugins usually are; see `pluginDirectories`. */
  readonly pluginDir: string;
  /** Where runtimes look for plugins besides, by their own defaults. */
  readonly otherPluginDirs: readonly string[];
  /** The runtime's cache, unless `--cache-dir` says otherwise. */
  readonly cacheDir: string;
  /** The runtime's locks. */
  readonly lockDir: string;
  /** Marks of running ADDs of plugins inside this process. */
  readonly markDir: string;
  /** Network namespaces with a name, as `ip netns` keeps them. */
  readonly netnsDir: string;
  /** host-local's reservations, unless a configuration says otherwise. */
  readonly reservationDir: string;
  /** What audits and the doctor are not to tell of, unless `--silence` says otherwise. */
  readonly silenceFile: string;
  /** Where the plugins' program may be before it is installed, best first. */
  readonly programDirs: readonly string[];
  /** The file that runs this command, for a link to it; `undefined` when nothing can be linked to. */
  readonly command: string | undefined;
  /** What makes this machine a node of a cluster, unless `--config` says otherwise. */
  readonly nodeConfig: string;
  /** Where the agent's process that `up` started is told of, and what it says. */
  readonly agentPid: string;
  readonly agentLog: string;
  /** Files, and directories of files, in which container runtimes may be told of other directories for plugins and networks. */
  readonly runtimeConfigs: readonly string[];
}

/** Signals that arrive. */
export interface SignalSource {
  /** Calls `handle` for each of these signals, in place of what they do by default, until disposed of. */
  listen(signals: readonly NodeJS.Signals[], handle: (signal: NodeJS.Signals) => void): Disposable;
}

/** See the file's comment. */
export interface Surroundings {
  readonly env: Environment;
  readonly cwd: string;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Whether stdin is a terminal, whose signals reach the whole foreground at once. */
  readonly isInteractive: boolean;
  readonly isRoot: boolean;
  readonly places: Places;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Opens the kernel as this machine's own namespace sees it. */
  readonly openHost: () => KernelSession;
  readonly signals: SignalSource;
}

/** The places of an ordinary machine. */
export const DEFAULT_PLACES: Omit<Places, 'programDirs' | 'command'> = {
  configDir: '/etc/cni/net.d',
  pluginDir: '/opt/cni/bin',
  otherPluginDirs: ['/usr/libexec/cni', '/usr/lib/cni', '/usr/local/libexec/cni', '/usr/local/lib/cni'],
  cacheDir: '/var/lib/cni',
  lockDir: '/run/heddle/locks',
  markDir: '/run/heddle/adding',
  netnsDir: '/run/netns',
  reservationDir: '/var/lib/cni/networks',
  silenceFile: '/etc/heddle/silence.jsonc',
  nodeConfig: '/etc/heddle/node.json',
  agentPid: '/run/heddle/agent.pid',
  agentLog: '/run/heddle/agent.log',
  runtimeConfigs: [
    '/etc/containerd/config.toml',
    '/etc/crio/crio.conf',
    '/etc/crio/crio.conf.d',
    '/usr/share/containers/containers.conf',
    '/etc/containers/containers.conf',
    '/etc/containers/containers.conf.d',
  ],
};
