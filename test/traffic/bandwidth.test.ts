/** Limits as traffic sees them: what iperf3 measures through a bridge with the bandwidth plugin. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { PLUGINS } from '@heddle/plugins';
import { type Container, PluginLab, StubIpam, type TestNetns } from '@heddle/plugins/testing';
import { runInNetns } from '@heddle/sys';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';

const RATES = { ingress: 20_000_000, egress: 10_000_000 } as const;
const BURST = 2_000_000;
/** Limits count whole frames: 1514 bytes carry 1448 of TCP over IPv4, 1262 carry 1200 of UDP over IPv6. */
const FRAME_PER_PAYLOAD = { TCP: 1514 / 1448, UDP: 1262 / 1200 } as const;
const ADDRESSES = { 4: '10.1.2.1', 6: 'fd00::1' } as const;

describe('limits are kept within a tenth', { skip: missing('iperf3') }, () => {
  for (const [protocol, family] of [
    ['TCP', 4],
    ['UDP', 6],
  ] as const) {
    for (const direction of ['ingress', 'egress'] as const) {
      test(`${direction}, ${protocol} over IPv${family}`, async () => {
        using scene = await Scene.create();
        const errors: number[] = [];
        // A machine that stalls lets the bucket fill up: a wrong limit would be wrong each time.
        while (errors.length < 3 && !errors.some((error) => Math.abs(error) < 0.1)) {
          const payload = await scene.measure(direction, protocol, ADDRESSES[family]);
          errors.push((payload * FRAME_PER_PAYLOAD[protocol]) / RATES[direction] - 1);
        }
        const shown = errors.map((error) => `${(error * 100).toFixed(1)} %`).join(', ');
        assert.ok(Math.abs(errors.at(-1) ?? 1) < 0.1, `off by ${shown}`);
      });
    }
  }
});

/** A container behind a bridge, limited in both directions. */
class Scene implements Disposable {
  readonly #lab: PluginLab;
  readonly #container: Container;

  private constructor(lab: PluginLab) {
    this.#lab = lab;
    this.#container = lab.container();
  }

  static async create(): Promise<Scene> {
    const ipam = new StubIpam({ ips: [{ address: '10.1.2.2/24' }, { address: 'fd00::2/64' }] });
    const plugins = ['bridge', 'bandwidth'].flatMap((type) => PLUGINS.get(type) ?? []);
    const lab = new PluginLab([...plugins, ipam.plugin]);
    const scene = new Scene(lab);
    const container = scene.#container;
    const bridge = { type: 'bridge', bridge: 'br0', isGateway: true, ipam: { type: 'stub' } };
    const prevResult = await lab.add({ config: bridge, container });
    const bandwidth = { ingressRate: RATES.ingress, egressRate: RATES.egress };
    const config = { type: 'bandwidth', ...bandwidth, ingressBurst: BURST, egressBurst: BURST };
    await lab.add({ config, container, prevResult });
    return scene;
  }

  /** Bits per second of payload that arrive, once the burst is used up. */
  async measure(direction: keyof typeof RATES, protocol: 'TCP' | 'UDP', address: string): Promise<number> {
    const { host } = this.#lab;
    // The client is in the container: it sends what leaves it, or in reverse receives what comes.
    using _server = serve(host, address);
    await until('the server', () => host.run('ss', '-Hltn').includes(':5201') || undefined);
    const args = ['-c', address, '-J', '-O', '2', '-t', '3', ...(direction === 'ingress' ? ['-R'] : [])];
    const flood = protocol === 'UDP' ? ['-u', '-b', `${2 * RATES[direction]}`, '-l', '1200'] : [];
    const { stdout } = runInNetns(this.#container.handle, () =>
      spawnSync('iperf3', [...args, ...flood], { encoding: 'utf8' }),
    );
    const { end, error } = JSON.parse(stdout);
    assert.equal(error, undefined);
    return end.sum_received.bits_per_second;
  }

  [Symbol.dispose](): void {
    this.#lab[Symbol.dispose]();
  }
}

/** An iperf3 server for one measurement. */
function serve(netns: TestNetns, address: string): Disposable {
  const child: ChildProcess = runInNetns(netns.handle, () =>
    spawn('iperf3', ['-s', '-1', '-B', address], { stdio: 'ignore' }),
  );
  return {
    [Symbol.dispose]() {
      child.kill();
    },
  };
}
