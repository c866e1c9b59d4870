/** A master with a neighbour behind it, on the host or in each container, for tests of links that sit on it. */
import type { Plugin } from '@heddle/cni/plugin';
import { staticPlugin } from '../../static/index.ts';
import { type Container, type LabConfig, PluginLab, StubIpam, TestNetns } from '../../testing/index.ts';

/** A plugin under test. */
export interface Subject {
  readonly plugin: Plugin;
  /** The configuration, but for `master` and `ipam`. */
  readonly config: LabConfig;
  /** What `ip -d -j link` shows of the kind's own data, at least. */
  readonly shows: Readonly<Record<string, unknown>>;
  /** What `ip link add` is told after the type to make such a link. */
  readonly linkOptions: readonly string[];
  /** Options of `ip link add` that make the neighbour's link on `hd0`, when it takes one to be reached. */
  readonly neighbourLink?: readonly string[] | undefined;
}

/** Where the master is. */
export type Place = 'host' | 'container';
/** Both places. */
export const PLACES: readonly Place[] = ['host', 'container'];

/** The container's addresses, and the neighbour's, one in each family. */
export const POD = ['10.1.2.2', 'fd00::2'] as const;
export const NEIGHBOUR = ['10.1.2.1', 'fd00::1'] as const;
/** What address management gives unless told otherwise. */
export const DUAL = {
  ips: [
    { address: `${POD[0]}/24`, gateway: NEIGHBOUR[0] },
    { address: `${POD[1]}/64`, gateway: NEIGHBOUR[1] },
  ],
  routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
};
/** The same, by the plugin `static`, for comparisons with the reference. */
export const STATIC = { type: 'static', addresses: DUAL.ips, routes: DUAL.routes };

/** See the file's comment. */
export class StackedScene implements Disposable {
  readonly ipam = new StubIpam(DUAL);
  readonly lab: PluginLab;
  readonly neighbour = new TestNetns();
  /** The name of the neighbour's link. */
  readonly neighbourLink: string;
  readonly #subject: Subject;
  readonly #place: Place;

  constructor(subject: Subject, place: Place = 'host') {
    this.lab = new PluginLab([subject.plugin, this.ipam.plugin, staticPlugin]);
    this.#subject = subject;
    this.#place = place;
    this.neighbourLink = subject.neighbourLink === undefined ? WIRE : 'hdnear';
    if (place === 'host') this.#wire(this.lab.host);
  }

  /** A container with the master, if that is where masters are. Its addresses are usable at once. */
  container(id?: string): Container {
    const container = this.lab.container(id);
    skipDuplicateDetection(container);
    if (this.#place === 'container') this.#wire(container);
    return container;
  }

  /** A configuration of the plugin under test. */
  readonly config = (more: LabConfig = {}): LabConfig => {
    const { config } = this.#subject;
    const linkInContainer = this.#place === 'container';
    return { ...config, master: MASTER, linkInContainer, ipam: { type: 'stub' }, ...more };
  };

  [Symbol.dispose](): void {
    this.lab[Symbol.dispose]();
    this.neighbour[Symbol.dispose]();
  }

  /** Lays a wire from the neighbour, in place of the one before. */
  #wire(netns: TestNetns): void {
    const { neighbour, neighbourLink } = this;
    const { neighbourLink: options } = this.#subject;
    skipDuplicateDetection(neighbour);
    neighbour.run('sh', '-c', `ip link delete ${WIRE} 2>/dev/null; true`);
    netns.run('ip', 'link', 'add', MASTER, 'type', 'veth', 'peer', 'name', WIRE, 'netns', neighbour.path);
    netns.run('ip', 'link', 'set', MASTER, 'up');
    neighbour.run('ip', 'link', 'set', WIRE, 'up');
    if (options !== undefined) {
      neighbour.run('ip', 'link', 'add', neighbourLink, 'up', 'link', WIRE, ...options);
    }
    for (const [address, bits] of [
      [NEIGHBOUR[0], 24],
      [NEIGHBOUR[1], 64],
    ]) {
      neighbour.run('ip', 'address', 'add', `${address}/${bits}`, 'dev', neighbourLink);
    }
  }
}

/** The master's name. */
export const MASTER = 'hd0';
/** The neighbour's end of the wire. */
const WIRE = 'hd1';

function skipDuplicateDetection(netns: TestNetns): void {
  netns.run('sh', '-c', 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad');
}
