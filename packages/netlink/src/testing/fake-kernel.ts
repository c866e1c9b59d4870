import type { NetnsHandle } from '@heddle/sys';
import type { Flow } from '../conntrack/flow.ts';
import { type KernelSession, sessionOver } from '../session/session.ts';
import { describe as describeFlow } from './conntrack/requests.ts';
import { type Failure, Failures } from './core/failures.ts';
import { fakeNetns } from './core/fake-netns.ts';
import type { Machine } from './core/machine.ts';
import { Namespace } from './core/namespace.ts';
import { netfilterProtocol } from './core/netfilter-protocol.ts';
import { fakePackets, type SentFrame } from './core/packets.ts';
import { FAKE_PROC_NET } from './core/proc-net.ts';
import { routeProtocol } from './core/route-protocol.ts';
import { FakeTransport, type Protocol } from './core/transport.ts';
import { dumpNamespace } from './dump/dump.ts';
import { initialState } from './link/watch.ts';
import { fakeSysctl } from './sysctl/port.ts';

/** How a {@link FakeKernel} is built. */
export interface FakeKernelOptions {
  /**
   * What it is to lack, as kernels are built without: kinds of links, `bridge-vlan` for the VLANs of bridges.
   * Making such a link is EOPNOTSUPP.
   */
  readonly without?: readonly string[] | undefined;
  /**
   * Has something done when the caller is through: the end of duplicate address detection, notifications.
   * `setImmediate` when left out.
   */
  readonly later?: ((task: () => void) => void) | undefined;
  /** Has what is sent carried out, when it is left to it: to see what is sent, and when, and what the kernel takes for it. */
  readonly around?: ((send: FakeSend, carryOut: () => void) => void) | undefined;
}

/** Messages that came to a fake kernel together. */
export interface FakeSend {
  /** Name of the namespace. */
  readonly namespace: string;
  /** Type and `NLM_F` of each. */
  readonly messages: readonly { readonly type: number; readonly flags: number }[];
}

/**
 * A kernel in memory: any number of network namespaces, and sessions over them that cannot be told from real
 * ones. Requests come as the bytes that a real kernel would get, and are answered as it does.
 *
 * @example
 * const kernel = new FakeKernel();
 * using host = kernel.session('host');
 * using pod = kernel.session('pod');
 * await host.links.add({ name: 'veth0', kind: 'veth', peer: { name: 'eth0', netns: pod.handle } });
 */
export class FakeKernel {
  readonly #namespaces = new Map<string, Namespace>();
  readonly #numbers = new Map<number, Namespace>();
  readonly #failures = new Failures();
  readonly #machine: Machine;
  readonly #later: (task: () => void) => void;
  readonly #around: FakeKernelOptions['around'];
  #macs = 0;
  #pending = 0;

  constructor({ without = [], later = (task) => setImmediate(task), around }: FakeKernelOptions = {}) {
    this.#around = around;
    this.#machine = {
      namespaces: this.#namespaces,
      missingKinds: new Set(without),
      byDescriptor: (number) => this.#numbers.get(number),
      nextMac: () => {
        this.#macs++;
        return Uint8Array.of(0x0e, 0x00, 0x00, this.#macs >>> 16, this.#macs >>> 8, this.#macs);
      },
      later: (task) => {
        this.#pending++;
        later(() => {
          this.#pending--;
          task();
        });
      },
    };
    this.#later = later;
  }

  /** A session in the namespace of that name, which is made when there is none. */
  session(name: string): KernelSession {
    const namespace = this.#namespace(name);
    const intercept = (request: string, { flags, body }: { flags: number; body: Uint8Array }) =>
      this.#failures.meet({ namespace: name, name: request, flags, body });
    return sessionOver({
      handle: () => this.netns(name),
      route: this.#transport(name, routeProtocol(namespace, intercept)),
      netfilter: this.#transport(name, netfilterProtocol(namespace, intercept)),
      sysctl: fakeSysctl(namespace),
      procNet: FAKE_PROC_NET,
      packets: (indexOf) => fakePackets(namespace, indexOf),
      subscribe: (options) => namespace.notifier.subscribe(options),
    });
  }

  /** A handle of the namespace of that name, which is made when there is none: a target for `links.add`. */
  netns(name: string): NetnsHandle {
    return fakeNetns(name, this.#namespace(name).number);
  }

  /**
   * Makes a request to come fail. Nothing of it is done; of a batch of nf_tables, nothing of the batch.
   *
   * @example kernel.failNext({ match: 'RTM_NEWADDR', errno: 'ENOBUFS' });
   */
  failNext(failure: Failure): void {
    this.#failures.add(failure);
  }

  /** Waits until everything is done that was put off: duplicate address detection, notifications. */
  async settle(): Promise<void> {
    while (this.#pending > 0) await new Promise<void>((resolve) => this.#later(resolve));
  }

  /** Makes every subscription in a namespace lose events: it is told to list afresh. */
  loseEvents(name: string): void {
    this.#namespace(name).notifier.overrun();
  }

  /** Adds a tracked connection to a namespace, as traffic would. */
  addFlow(name: string, flow: Flow): void {
    const namespace = this.#namespace(name);
    namespace.flows = [...namespace.flows, flow];
    namespace.notifier.publish('conntrackNew', describeFlow(flow));
  }

  /** The frames that were sent out of links of a namespace, in order. */
  sentFrames(name: string): readonly SentFrame[] {
    return this.#namespace(name).frames;
  }

  /**
   * All that the namespaces hold, or one of them, as text: a line for each object, in the words of `ip`, `bridge`,
   * `tc`, `nft` and `sysctl`. Equal for equal namespaces, so that two can be compared; see `dumpDifference`.
   */
  dump(name?: string): string {
    const chosen = name === undefined ? [...this.#namespaces.values()] : [this.#namespace(name)];
    return chosen.flatMap(dumpNamespace).join('\n');
  }

  #transport(namespace: string, protocol: Protocol): FakeTransport {
    const around = this.#around;
    if (around === undefined) return new FakeTransport(protocol);
    return new FakeTransport((messages, replies) =>
      around({ namespace, messages }, () => protocol(messages, replies)),
    );
  }

  #namespace(name: string): Namespace {
    const present = this.#namespaces.get(name);
    if (present !== undefined) return present;
    const namespace = new Namespace(name, FIRST_NUMBER + this.#numbers.size, this.#machine);
    this.#namespaces.set(name, namespace);
    this.#numbers.set(namespace.number, namespace);
    addLoopback(namespace);
    return namespace;
  }
}

/** Far above any number of an open file. */
const FIRST_NUMBER = 0x4000_0000;

function addLoopback(namespace: Namespace): void {
  namespace.links.set(namespace.nextIndex(), {
    index: 1,
    name: 'lo',
    address: new Uint8Array(6),
    addressIsSet: false,
    mtu: 65536,
    mtuIsSet: false,
    up: false,
    promiscuous: false,
    allmulti: false,
    txQueueLength: 1000,
    group: 0,
    altNames: [],
    vlans: [],
    wasUp: false,
    ipv6Ready: false,
    hasElected: false,
    ...initialState('loopback'),
  });
}
