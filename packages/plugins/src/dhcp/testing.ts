/** A node for tests of the plugin: main plugins, and a link with DHCP on it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from '@heddle/cni/plugin';
import { DhcpLink, PluginLab } from '../testing/index.ts';
import { dhcpAt } from './index.ts';

/** Why tests with a DHCP server are skipped; `false` when there is one. */
export const NO_SERVER = DhcpLink.ABSENT;

/** See the file's comment. */
export class DhcpNode extends AsyncDisposableStack {
  readonly lab: PluginLab;
  readonly link: DhcpLink;

  /** @param mains the main plugins that can be called */
  constructor(mains: readonly Plugin[]) {
    super();
    const directory = mkdtempSync(join(tmpdir(), 'heddle-dhcp-'));
    this.defer(() => rmSync(directory, { recursive: true }));
    this.lab = this.use(new PluginLab([...mains, dhcpAt({ stateDir: join(directory, 'leases') })]));
    this.link = this.use(new DhcpLink(this.lab.host, directory));
  }
}
