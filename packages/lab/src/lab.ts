/** A lab that runs, held by the process that made it: all of it is gone with that process. */
import { isJsonObject, type JsonValue } from '@heddle/cni';
import { type Addr, Prefix } from '@heddle/netaddr';
import type { NetnsHandle } from '@heddle/sys';
import { EtcdMembers } from './host/etcd.ts';
import { Host } from './host/host.ts';
import { SHARED } from './host/own-files.ts';
import { LabError } from './lab-error.ts';
import { type LabPlan, type NodePlan, planLab } from './plan.ts';
import { Greeter } from './probe/greeter.ts';
import type { Place } from './probe/matrix.ts';
import type { ResolvedLabSpec } from './spec.ts';
import { Underlay } from './underlay/underlay.ts';
import { wiringByHand } from './wiring/by-hand.ts';
import { wiringByHeddle } from './wiring/heddle.ts';
import type { Wiring } from './wiring/wiring.ts';

/** What a lab needs of its surroundings. */
export interface LabSurroundings {
  /** The `heddle` command and what goes before its arguments. */
  readonly program: readonly string[];
  /** A directory for what all machines share. */
  readonly shared: string;
  /** The environment of everything that runs on machines. */
  readonly env: Readonly<Record<string, string>>;
  /** Hears what is being done. */
  readonly tell: (what: string) => void;
}

interface Pod extends Place {
  readonly greeter: Greeter;
}

/** See the file's comment. */
export class Lab implements AsyncDisposable {
  readonly plan: LabPlan;
  readonly underlay: Underlay;
  readonly etcd: EtcdMembers;
  readonly #hosts = new Map<string, Host>();
  readonly #pods = new Map<string, Pod>();
  readonly #stack = new DisposableStack();
  readonly #surroundings: LabSurroundings;
  #wiring: Wiring | undefined;

  private constructor(plan: LabPlan, underlay: Underlay, surroundings: LabSurroundings) {
    this.plan = plan;
    this.underlay = this.#stack.use(underlay);
    this.#surroundings = surroundings;
    for (const { name } of [...plan.etcd, ...plan.nodes]) {
      this.#hosts.set(name, this.#stack.use(Host.make(name, surroundings)));
    }
    this.etcd = new EtcdMembers(plan.etcd.map((member) => ({ plan: member, host: this.host(member.name) })));
  }

  /** Makes everything that the specification asks for, pods included. */
  static async make(spec: ResolvedLabSpec, surroundings: LabSurroundings): Promise<Lab> {
    const plan = planLab(spec);
    const lab = new Lab(plan, await Underlay.make(plan.segments), surroundings);
    try {
      await lab.#make();
      return lab;
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Everything that can be asked, or ask: nodes and pods. */
  get places(): readonly Place[] {
    const nodes = this.plan.nodes.map(({ name, addresses }): Place => {
      const { netns } = this.host(name);
      return { ...{ name, kind: 'node', node: name, netns }, addresses: addresses.map(({ addr }) => addr) };
    });
    const pods = [...this.#pods.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return [...nodes, ...pods];
  }

  /** @throws {LabError} LAB_MISSING */
  place(name: string): Place {
    return this.places.find((place) => place.name === name) ?? this.#missing(name);
  }

  /** @throws {LabError} LAB_MISSING */
  host(name: string): Host {
    return this.#hosts.get(name) ?? this.#missing(name);
  }

  /** Where a command runs that is to run there: on a machine, in the network of a pod, or on the router. */
  whereabouts(name: string): { readonly host: Host; readonly netns: NetnsHandle } {
    const host = this.#hosts.get(name);
    if (host !== undefined) return { host, netns: host.netns };
    if (name === ROUTER)
      return { host: this.host(this.plan.nodes[0]?.name ?? ''), netns: this.underlay.netns };
    const pod = this.#pods.get(name) ?? this.#missing(name);
    return { host: this.host(pod.node), netns: pod.netns };
  }

  /**
   * Attaches a pod, through the plugins of its node.
   *
   * @throws {LabError} LAB_EXISTS when the name is taken; LAB_FAILED with what the plugins say
   */
  async addPod(node: string, name: string): Promise<Place> {
    const host = this.host(node);
    if (this.#hosts.has(name) || this.#pods.has(name) || name === ROUTER) {
      throw new LabError('LAB_EXISTS', `there is ${name} already`);
    }
    using stack = new DisposableStack();
    const netns = stack.use(await host.addPod(name));
    stack.defer(() => host.dropPod(name));
    const result = await host.must([...this.#surroundings.program, 'add', this.#network, name]);
    const addresses = addressesIn(JSON.parse(result));
    const greeter = stack.use(new Greeter(name, netns, addresses));
    const pod: Pod = { name, kind: 'pod', node, netns, addresses, greeter };
    this.#pods.set(name, pod);
    this.#stack.use(stack.move());
    return pod;
  }

  /** Detaches a pod. */
  async removePod(name: string): Promise<void> {
    const { node, greeter, netns } = this.#pods.get(name) ?? this.#missing(name);
    const host = this.host(node);
    await host.must([...this.#surroundings.program, 'del', this.#network, name]);
    this.#pods.delete(name);
    greeter[Symbol.dispose]();
    host.dropPod(name);
    netns[Symbol.dispose]();
  }

  /** Takes everything down. What runs on the machines ends with the process namespace that they are in. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.etcd.names) await this.etcd.kill(name);
    this.#stack.dispose();
  }

  get #network(): string {
    return this.#wiring?.network ?? '';
  }

  async #make(): Promise<void> {
    const { plan, underlay } = this;
    const { tell, program } = this.#surroundings;
    for (const host of [...plan.etcd, ...plan.nodes]) {
      const { netns } = this.host(host.name);
      await underlay.connect(host, netns);
      const addresses = host.addresses.map(({ addr }) => addr);
      this.#stack.use(new Greeter(host.name, netns, addresses));
    }
    tell(`${plan.nodes.length} nodes on ${plan.segments.length} segments`);
    if (plan.store === 'etcd') {
      await this.etcd.start();
      tell(`etcd serves at ${this.etcd.url}`);
    }
    const store = plan.store === 'etcd' ? this.etcd.url : `sqlite://${SHARED}/store.db`;
    const site = { plan, underlay, program, store };
    const wiring = plan.network.wiring === 'by-hand' ? wiringByHand(site) : wiringByHeddle(site);
    this.#wiring = wiring;
    for (const node of plan.nodes) {
      await wiring.setUp(node, this.host(node.name));
      tell(`${node.name} is up`);
    }
    await wiring.finish(this.#hosts);
    await Promise.all(plan.nodes.map((node) => this.#addPods(node)));
    tell(`${this.#pods.size} pods are attached`);
  }

  async #addPods({ name, pods }: NodePlan): Promise<void> {
    for (const pod of pods) await this.addPod(name, pod);
  }

  #missing(name: string): never {
    const names = [...this.#hosts.keys(), ...this.#pods.keys(), ROUTER];
    throw new LabError('LAB_MISSING', `there is no ${name} in this lab`, {
      hint: `there are ${names.join(', ')}`,
    });
  }
}

/** The namespace of the switches and the router between them. */
const ROUTER = 'router';

function addressesIn(result: JsonValue): readonly Addr[] {
  const ips = isJsonObject(result) ? result['ips'] : undefined;
  if (!Array.isArray(ips)) return [];
  return ips.flatMap((ip) => {
    const address = isJsonObject(ip) ? ip['address'] : undefined;
    return typeof address === 'string' ? [Prefix.parse(address).addr] : [];
  });
}
