/** A {@link CliLab} whose host is a private network namespace, with the plugins inside this process. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSession } from '@heddle/netlink';
import { TestNetns } from '@heddle/plugins/testing';
import { CliLab, type Outcome } from './cli-lab.ts';

/** See the file's comment. */
export class KernelLab extends CliLab {
  /** The namespace that plays the host. */
  readonly host: TestNetns;

  constructor() {
    const host = new TestNetns();
    super({ openHost: () => openSession({ netns: host.handle }) });
    this.host = host;
    host.run('ip', 'link', 'set', 'lo', 'up');
    this.write('net.d/10-podnet.conflist', this.network());
  }

  /** The network `podnet`: a dual-stack bridge with published ports. */
  network(): object {
    const ipam = {
      type: 'host-local',
      dataDir: this.places.reservationDir,
      ranges: [[{ subnet: '10.45.0.0/24' }], [{ subnet: 'fd45::/64' }]],
      routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
    };
    return {
      cniVersion: '1.1.0',
      name: 'podnet',
      plugins: [
        { type: 'bridge', bridge: 'hdcli0', isGateway: true, ipMasq: true, ipam },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    };
  }

  /** Runs a command line with the plugins inside this process. */
  inProcess(
    [command = '', ...args]: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<Outcome> {
    return this.run([command, '--in-process', ...args], env);
  }

  /** What attachments would have left: ports of the bridge, elements, reservations, results, namespaces. */
  leftovers(): readonly string[] {
    const links = this.host.run('ip', '-o', 'link', 'show', 'type', 'veth').split('\n');
    const elements = this.host.run('nft', 'list', 'ruleset').match(/elements = /g) ?? [];
    const files = [this.places.cacheDir, this.places.netnsDir].flatMap((directory) =>
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory() && !/^(last_reserved_ip\.\d|lock)$/.test(entry.name))
        .map(({ parentPath, name }) => join(parentPath, name)),
    );
    return [...links, ...elements, ...files].filter((line) => line !== '');
  }

  override [Symbol.dispose](): void {
    this.host[Symbol.dispose]();
    // `run` makes the directory of namespaces a mount.
    spawnSync('umount', ['--lazy', this.places.netnsDir]);
    super[Symbol.dispose]();
  }
}
