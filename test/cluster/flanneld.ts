/**
 * A machine whose network Flannel's own daemon makes, with an etcd beside it where Flannel keeps what it knows of nodes. It
 * and the nodes of a cluster know of each other what is written down for them: leases there, a record of a node here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Addr, Prefix } from '@heddle/netaddr';
import type { TestNetns } from '@heddle/netlink/testing';
import type { TestCluster, TestPod } from '@heddle/routing/testing';
import { EtcdCluster } from '@heddle/store/testing';
import { runInNetns } from '@heddle/sys';
import { REFERENCE } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { base64, gatewayCommand } from './etcd-gateway.ts';
import { enterNode, takeAddresses } from './foreign-node.ts';
import { type NodePlan, wirePod } from './hand-made.ts';

/** What the operator decides. */
export interface FlanneldOptions {
  /** Of the machine, with the prefix of the segment; with one of IPv6, Flannel carries both families. */
  readonly underlay: readonly string[];
  /** The ranges of the pools. */
  readonly networks: { readonly 4: string; readonly 6: string };
}

const NAME = 'flannel';
const PREFIX = '/coreos.com/network';
const FLANNELD = join(REFERENCE.current, 'flanneld');
/** What Flannel calls its devices with the VNI of a cluster of Heddle. */
const DEVICE = { 4: 'flannel.72', 6: 'flannel-v6.72' } as const;

/** See the file's comment. */
export class Flanneld implements AsyncDisposable {
  readonly netns: TestNetns;
  readonly #cluster: TestCluster;
  readonly #options: FlanneldOptions;
  readonly #etcd: EtcdCluster;
  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-flanneld-'));
  readonly #log = join(this.#directory, 'log');
  readonly #subnetFile = join(this.#directory, 'subnet.env');
  #process: ChildProcess | undefined;

  private constructor(cluster: TestCluster, netns: TestNetns, etcd: EtcdCluster, options: FlanneldOptions) {
    this.#cluster = cluster;
    this.netns = netns;
    this.#etcd = etcd;
    this.#options = options;
  }

  /** Makes a machine a node under Flannel, in a block of the cluster's, and tells the cluster of it. */
  static async make(cluster: TestCluster, netns: TestNetns, options: FlanneldOptions): Promise<Flanneld> {
    await using stack = new AsyncDisposableStack();
    const within = (start: () => ChildProcess) => runInNetns(netns.handle, start);
    const etcd = stack.use(await EtcdCluster.start({ within }));
    const flanneld = stack.use(new Flanneld(cluster, netns, etcd, options));
    const tunnel = await takeAddresses(cluster.store, NAME, `tunnel.${NAME}`);
    flanneld.#configure(tunnel);
    await flanneld.#start();
    await enterNode(cluster.store, {
      ...{ name: NAME, tunnel, mac: flanneld.macOf(4) },
      underlay: options.underlay.map((each) => Prefix.parse(each)),
    });
    stack.move();
    return flanneld;
  }

  /** Of the device that carries a family. */
  macOf(family: 4 | 6): string {
    return this.netns.json<{ address: string }>('ip', '-j', 'link', 'show', DEVICE[family])[0]?.address ?? '';
  }

  /** What Flannel has told pods' plugins. */
  get subnetFile(): string {
    return readFileSync(this.#subnetFile, 'utf8');
  }

  /** What the daemon has said. */
  get log(): string {
    return readFileSync(this.#log, 'utf8');
  }

  /** Writes a lease for another node, as its own daemon would: its first block of each family, and where it is. */
  tell({ mac, blocks }: NodePlan, hosts: readonly string[]): void {
    const data = { VNI: 72, VtepMAC: mac };
    this.#putLease(
      blocks,
      hosts,
      this.#isDual ? { BackendData: data, BackendV6Data: data } : { BackendData: data },
    );
  }

  /** A pod with the address after the gateway's, of each family that Flannel carries. */
  pod(): TestPod {
    const netns = this.#cluster.netns();
    const [, mtu = ''] = /^FLANNEL_MTU=(\d+)$/m.exec(this.subnetFile) ?? [];
    const gateways = [...this.subnetFile.matchAll(/^FLANNEL_(?:IPV6_)?SUBNET=(.+)$/gm)];
    const addresses = gateways.map(([, gateway = '']) => `${Prefix.parse(gateway).addr.next()}`);
    wirePod(this.netns, netns, addresses, Number(mtu));
    return { netns, addresses };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = this.#process;
    if (running !== undefined && running.exitCode === null && running.signalCode === null) {
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      await ended;
    }
    await this.#etcd[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #isDual(): boolean {
    return this.#options.underlay.some((each) => each.includes(':'));
  }

  /** The network, with the cluster's numbers, and the daemon's own part of it, which it finds reserved. */
  #configure(tunnel: readonly Addr[]): void {
    const { networks, underlay } = this.#options;
    const config = {
      ...{ Network: networks[4], SubnetLen: BLOCK[4] },
      ...(this.#isDual && { EnableIPv6: true, IPv6Network: networks[6], IPv6SubnetLen: BLOCK[6] }),
      Backend: { Type: 'vxlan', VNI: 72, Port: 4789 },
    };
    this.#put('config', config);
    const blocks = tunnel.map((addr) => `${Prefix.of(addr, BLOCK[addr.family])}`);
    this.#putLease(
      blocks,
      underlay.map((each) => `${Prefix.parse(each).addr}`),
      {},
    );
    // What the plugins of Flannel's pods do otherwise.
    this.netns.run('sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
  }

  async #start(): Promise<void> {
    const log = openSync(this.#log, 'a');
    const args = [
      `-etcd-endpoints=${this.#etcd.endpoints.join(',')}`,
      ...[`-subnet-file=${this.#subnetFile}`, '-iface=eth0', '-iptables-resync=1'],
    ];
    const daemon = runInNetns(this.netns.handle, () =>
      spawn(FLANNELD, args, { stdio: ['ignore', log, log] }),
    );
    closeSync(log);
    this.#process = daemon;
    await until(
      'flanneld to have made its network',
      () => {
        if (daemon.exitCode !== null) throw new Error(`flanneld ended: ${this.log}`);
        return existsSync(this.#subnetFile) || undefined;
      },
      60,
    );
  }

  #putLease(blocks: readonly string[], hosts: readonly string[], data: object): void {
    const isV6 = (text: string) => text.includes(':');
    const of = (texts: readonly string[], family: 4 | 6) =>
      texts.find((text) => isV6(text) === (family === 6));
    const families = this.#isDual ? ([4, 6] as const) : ([4] as const);
    const key = families.map((family) => of(blocks, family)?.replace('/', '-')).join('&');
    const PublicIPv6 = this.#isDual ? of(hosts, 6) : null;
    this.#put(`subnets/${key}`, { PublicIP: of(hosts, 4), PublicIPv6, BackendType: 'vxlan', ...data });
  }

  #put(key: string, value: object): void {
    const body = { key: base64(`${PREFIX}/${key}`), value: base64(JSON.stringify(value)) };
    const [endpoint = ''] = this.#etcd.endpoints;
    this.netns.run(...gatewayCommand(endpoint, 'kv/put', body));
  }
}

/** The lengths of the cluster's blocks. */
const BLOCK = { 4: 26, 6: 122 } as const;
