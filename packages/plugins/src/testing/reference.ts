/** The reference's plugins, where they are installed, to see that one side takes over what the other made. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PluginError } from '@heddle/cni';
import type { TestNetns } from '@heddle/netlink/testing';
import { runInNetns } from '@heddle/sys';
import { invocationOf, type LabCall } from './plugin-caller.ts';

/** The reference's plugins in one directory. */
export class ReferencePlugins {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Those that are installed; a test without them is to be skipped for {@link ReferencePlugins.ABSENT}. */
  static find(): ReferencePlugins | undefined {
    const directory = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'].find((each) =>
      existsSync(join(each, 'bridge')),
    );
    return directory === undefined ? undefined : new ReferencePlugins(directory);
  }

  /** Those of the current release, where the setup could build them; see {@link ReferencePlugins.ABSENT_CURRENT}. */
  static findCurrent(): ReferencePlugins | undefined {
    return existsSync(join(CURRENT, 'bridge')) ? new ReferencePlugins(CURRENT) : undefined;
  }

  /** Why a test is skipped without them. */
  static readonly ABSENT_CURRENT = "not installed: Go, to build the reference's current plugins";

  /** Why a test is skipped without them. */
  static readonly ABSENT = "not installed: the reference's plugins (package containernetworking-plugins)";

  /**
   * Runs one inside a namespace that plays the host, and returns what it prints.
   *
   * @param more further variables of its environment
   * @throws {PluginError} what the plugin answered
   */
  run(host: TestNetns, call: LabCall, more: Readonly<Record<string, string>> = {}): string {
    const type = String(call.config['type']);
    const { env, stdin } = invocationOf(call, this.directory);
    const options = {
      env: { ...env, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...more },
      input: stdin,
      encoding: 'utf8',
    } as const;
    const { status, stdout, stderr, error } = runInNetns(host.handle, () =>
      spawnSync(join(this.directory, type), [], options),
    );
    if (error !== undefined) throw error;
    if (status === 0) return stdout;
    throw stdout === '' ? new Error(`${type}: ${stderr}`) : PluginError.fromJson(type, JSON.parse(stdout));
  }
}

/** Where the setup builds them. */
const CURRENT = fileURLToPath(new URL('../../../../build/reference', import.meta.url));
