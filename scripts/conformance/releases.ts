/** Whose plugins and runtimes are reported on, and where they are. */
/** One release of the reference's plugins. */
export interface Release {
  /** The name of its page. */
  readonly name: 'reference' | 'debian';
  readonly title: string;
  readonly directory: string;
  readonly plugins: readonly string[];
}

const PLUGINS = [
  ...['bridge', 'ptp', 'macvlan', 'ipvlan', 'vlan', 'host-device', 'loopback'],
  ...['host-local', 'static', 'dhcp'],
  ...['portmap', 'firewall', 'bandwidth', 'tuning', 'sbr', 'vrf'],
] as const;

/** The current release, and the one of a distribution that many nodes have. */
export const RELEASES: readonly Release[] = [
  {
    name: 'reference',
    title: "the reference's plugins, release 1.10.0",
    directory: 'build/reference',
    plugins: [...PLUGINS, 'dummy', 'tap'],
  },
  {
    name: 'debian',
    title: "the reference's plugins as Debian 12 has them, release 1.1.1",
    directory: '/usr/lib/cni',
    plugins: PLUGINS,
  },
];

/** Plugins whose links few kernels have: they are checked in the lab. */
export const IN_THE_LAB: readonly string[] = ['ipvlan', 'vlan', 'vrf', 'dummy'];

/** A runtime that the kit knows by name. */
export interface RuntimeSubject {
  readonly name: string;
  readonly title: string;
  /** What has to be there. */
  readonly program: string;
}

/** The runtimes of `runtimes.md`. */
export const RUNTIMES: readonly RuntimeSubject[] = [
  { name: 'heddle', program: process.execPath, title: "Heddle's own command" },
  {
    name: 'cnitool',
    program: 'build/reference/cnitool',
    title: 'cnitool 1.3.1, on the libcni of that release',
  },
  { name: 'podman', program: '/usr/bin/podman', title: 'Podman 4.3.1 of Debian 12' },
  {
    name: 'containerd',
    program: '/usr/bin/containerd',
    title: 'containerd 1.6.20 of Debian 12, through its command `ctr`',
  },
];
