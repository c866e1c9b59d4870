/** A node with a bridge, pods that answer on their ports, and a client outside: what tests of published ports need. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { runInNetns } from '@heddle/sys';
import { type Container, PluginLab, TestNetns } from '../testing/index.ts';
import { portmap } from './index.ts';

/** A pod on the node's bridge. */
export interface Pod {
  readonly container: Container;
  readonly result: {
    readonly cniVersion: string;
    readonly interfaces: readonly object[];
    readonly ips: readonly object[];
  };
}

/** How to connect. */
export interface Question {
  readonly protocol: 'tcp' | 'udp';
  readonly address: string;
  readonly port: number;
  /** The client's own port; any when left out. */
  readonly from?: number;
}

/**
 * See the file's comment. The node is 192.0.2.1 and 2001:db8::1 to the outside, 10.77.0.1/24 and fd77::1/64 on the
 * bridge; pods are .2, .3 and so on.
 */
export class PortLab implements Disposable {
  readonly lab = new PluginLab([portmap]);
  readonly outside = new TestNetns();
  readonly #hairpin: boolean;
  readonly #servers: ChildProcess[] = [];

  /** @param options with `bridgeNetfilter`, iptables and nftables see what passes a bridge, as Kubernetes asks for */
  constructor(options: { readonly bridgeNetfilter?: boolean } = {}) {
    const { bridgeNetfilter = false } = options;
    const { host } = this.lab;
    this.#hairpin = bridgeNetfilter;
    for (const family of ['', '6']) {
      const setting = `net.bridge.bridge-nf-call-ip${family}tables`;
      if (existsSync(`/proc/sys/${setting.replaceAll('.', '/')}`)) {
        host.run('sysctl', '-qw', `${setting}=${bridgeNetfilter ? 1 : 0}`);
      }
    }
    host.run('ip link set lo up');
    host.skipAddressDetection();
    host.run('ip link add br0 type bridge');
    host.run('ip link set br0 up');
    host.run('ip address add 10.77.0.1/24 dev br0');
    host.run('ip address add fd77::1/64 dev br0 nodad');
    for (const name of ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'])
      host.run('sysctl', '-qw', name);
    this.#connect(this.outside, 'up0', ['192.0.2.2/24', '2001:db8::2/64']);
    host.run('ip address add 192.0.2.1/24 dev up0');
    host.run('ip address add 2001:db8::1/64 dev up0 nodad');
    this.outside.run('ip link set lo up');
  }

  get host(): TestNetns {
    return this.lab.host;
  }

  /** A pod at 10.77.0.`number` and fd77::`number`. */
  pod(number: number, id = `c${number}`): Pod {
    const container = this.lab.container(id);
    const [v4, v6] = [`10.77.0.${number}/24`, `fd77::${number}/64`];
    const port = `veth${number}-${id}`.slice(0, 15);
    this.#connect(container, port, [v4, v6]);
    this.host.run(`ip link set ${port} master br0`);
    // Translated on the bridge already, a pod's packets to itself have to leave by the port that they came in.
    if (this.#hairpin) this.host.run(`ip link set ${port} type bridge_slave hairpin on`);
    container.run('ip link set lo up');
    container.run('ip route add default via 10.77.0.1');
    container.run('ip route add default via fd77::1');
    const interfaces = [{ name: 'br0' }, { name: port }, { name: 'eth0', sandbox: container.path }];
    const ips = [v4, v6].map((address) => ({ address, interface: 2 }));
    return { container, result: { cniVersion: '1.1.0', interfaces, ips } };
  }

  /** Starts a server that answers `name` and who asks, on one port of every address; by TCP and UDP. */
  async serve(where: TestNetns, name: string, port: number): Promise<ChildProcess> {
    const child = runInNetns(where.handle, () =>
      spawn(process.execPath, ['-e', SERVER, name, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    this.#servers.push(child);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    return child;
  }

  /** What answers a connection from there; `undefined` when nothing does. */
  ask(where: TestNetns, { protocol, address, port, from = 0 }: Question): string | undefined {
    const args = ['-e', CLIENT, protocol, address, String(port), String(from)];
    const { stdout } = runInNetns(where.handle, () =>
      spawnSync(process.execPath, args, { encoding: 'utf8' }),
    );
    return stdout === '' ? undefined : stdout;
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) server.kill('SIGKILL');
    this.outside[Symbol.dispose]();
    this.lab[Symbol.dispose]();
  }

  #connect(there: TestNetns, name: string, addresses: readonly string[]): void {
    there.skipAddressDetection();
    this.host.join(there, [name, 'eth0']);
    for (const address of addresses) {
      there.run(`ip address add ${address} dev eth0${address.includes(':') ? ' nodad' : ''}`);
    }
  }
}

const SERVER = `
const [name, port] = process.argv.slice(1);
const who = (address) => address.replace('::ffff:', '');
require('node:net').createServer((socket) => {
  socket.on('error', () => {});
  socket.end(name + ' ' + who(socket.remoteAddress));
}).listen(Number(port), '::', () => {
  const udp = require('node:dgram').createSocket('udp6');
  udp.on('message', (_, { address, port }) => udp.send(name + ' ' + who(address), port, address));
  udp.bind(Number(port), '::', () => console.log('ready'));
});`;

const CLIENT = `
const [protocol, address, port, from] = process.argv.slice(1);
const done = (text) => { process.stdout.write(text); process.exit(); };
setTimeout(() => done(''), 1000);
if (protocol === 'tcp') {
  const socket = require('node:net').connect({ host: address, port: Number(port), localPort: Number(from) || undefined });
  socket.on('data', (data) => done(String(data)));
  socket.on('error', () => done(''));
} else {
  const socket = require('node:dgram').createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (data) => done(String(data)));
  socket.on('error', () => done(''));
  socket.bind(Number(from), () => socket.send('?', Number(port), address));
}`;
