/** A container on a veth pair, for tests of the bandwidth plugin. */
import { type Container, type LabRequest, PluginLab } from '../testing/index.ts';
import { bandwidth } from './index.ts';

/** Limits of both directions, as the reference's own tests have them. */
export const LIMITS = { ingressRate: 8, ingressBurst: 8, egressRate: 16, egressBurst: 8 } as const;

/** See the file's comment. */
export class BandwidthScene implements Disposable {
  readonly lab = new PluginLab([bandwidth]);
  readonly container: Container = this.lab.container('dummy');

  /** A node with one container, whose `eth0` has its other end, `hdv0`, on the host. */
  static async create(): Promise<BandwidthScene> {
    const scene = new BandwidthScene();
    const peer = { name: 'eth0', netns: scene.container.handle, mtu: 1024 };
    await scene.lab.host.session.links.add({ name: 'hdv0', kind: 'veth', up: true, mtu: 1024, peer });
    await scene.container.session.links.set('eth0', { up: true });
    return scene;
  }

  /** A call with these limits. */
  request(config: object = LIMITS, prevResult: unknown = this.prevResult()): LabRequest {
    const network = { type: 'bandwidth', name: 'cni-plugin-bandwidth-test', cniVersion: '1.0.0' };
    return { config: { ...network, ...config }, container: this.container, prevResult };
  }

  /** What a main plugin would have given. */
  prevResult(cniVersion = '1.0.0') {
    const interfaces = [{ name: 'hdv0' }, { name: 'eth0', sandbox: this.container.path }];
    const version = cniVersion.startsWith('0.') ? { version: '4' } : {};
    const ips = [{ ...version, address: '192.0.2.2/24', gateway: '192.0.2.1', interface: 1 }];
    return { cniVersion, interfaces, ips };
  }

  /** The disciplines of a link, and its filters for what comes in, as `tc` shows them. */
  shaping(link: string): string {
    const { host } = this.lab;
    const options = ['show', 'dev', link];
    const qdiscs = host.run('tc', '-d', 'qdisc', ...options).replaceAll(/refcnt \d+ /g, '');
    const filters = host.run('tc', 'filter', ...options, 'ingress');
    return `${qdiscs}${filters}`;
  }

  /** The names of the ifb devices of the host. */
  async ifbs(): Promise<readonly string[]> {
    return (await this.lab.host.session.links.list({ kind: 'ifb' })).map(({ name }) => name);
  }

  [Symbol.dispose](): void {
    this.lab[Symbol.dispose]();
  }
}
