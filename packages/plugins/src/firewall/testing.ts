/** What tests of the firewall share: a lab with results of pods, and the tables of iptables as text. */
import type { Plugin } from '@heddle/cni/plugin';
import { type LabConfig, type LabRequest, PluginLab, type TestNetns } from '../testing/index.ts';
import { firewall } from './index.ts';

/** A pod that `bridge` has attached. */
export interface Pod {
  readonly id?: string;
  readonly ips?: readonly string[];
  readonly bridge?: string;
}

/** A lab for the firewall alone. */
export class FirewallLab extends PluginLab {
  readonly #somewhere = this.container();

  constructor(plugin: Plugin = firewall) {
    super([plugin]);
  }

  /** What a runtime asks for a pod. The firewall never looks into a container: they all have the same one. */
  request(config: LabConfig = {}, pod: Pod = {}): LabRequest {
    const { id = 'c1', ips = ['10.1.2.5/24', 'fd01::5/64'], bridge = 'br0' } = pod;
    const { path } = this.#somewhere;
    return {
      config: { type: 'firewall', name: 'n1', cniVersion: '1.0.0', backend: 'iptables', ...config },
      container: { id, path },
      prevResult: {
        cniVersion: config['cniVersion'] ?? '1.0.0',
        interfaces: [{ name: bridge }, { name: 'veth1' }, { name: 'eth0', sandbox: path }],
        ips: ips.map((address) => ({
          ...(config['cniVersion'] === '0.4.0' && { version: address.includes(':') ? '6' : '4' }),
          ...{ address, interface: 2 },
        })),
      },
    };
  }
}

/** Both filter tables without what changes from call to call: dates and counters. */
export function saved(host: TestNetns, suffix = ''): string {
  const text = ['iptables', 'ip6tables'].map((program) =>
    host.run(`${program}${suffix}-save`, '-t', 'filter'),
  );
  return text
    .join('')
    .replace(/^#.*\n/gm, '')
    .replace(/\[\d+:\d+\]/g, '[0:0]');
}

/** The rules of the filter table of one family, in order. */
export function rulesIn(host: TestNetns, family: 4 | 6 = 4): readonly string[] {
  const text = host.run(`ip${family === 4 ? '' : '6'}tables-save`, '-t', 'filter');
  return text.match(/^-A .*$/gm) ?? [];
}
