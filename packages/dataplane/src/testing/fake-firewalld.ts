/**
 * A message bus of a test's own, with a firewalld on it that keeps sources in memory. The bus is dbus-daemon; firewalld
 * is another process as well, so that it answers while the test waits for a program.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** See the file's comment. */
export class FakeFirewalld implements Disposable {
  /** Why a test is skipped; `false` where everything is there. */
  static readonly ABSENT: string | false = existsSync('/usr/bin/dbus-daemon')
    ? false
    : 'not installed: dbus-daemon (package dbus-daemon)';

  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-bus-'));
  readonly #processes: ChildProcess[] = [];

  private constructor() {}

  /** Starts the bus, and unless told otherwise firewalld. */
  static async start({ withFirewalld = true } = {}): Promise<FakeFirewalld> {
    const fake = new FakeFirewalld();
    const config = join(fake.#directory, 'bus.conf');
    writeFileSync(config, CONFIG.replace('SOCKET', fake.socket));
    await fake.#spawn('dbus-daemon', `--config-file=${config}`, '--nofork', '--print-address');
    if (withFirewalld)
      await fake.#spawn(process.execPath, '--conditions=source', SERVICE, fake.socket, fake.#log);
    return fake;
  }

  /** The path of the bus's socket. */
  get socket(): string {
    return join(this.#directory, 'bus');
  }

  /** What firewalld was asked to do, such as `addSource trusted 10.0.0.2/32`. */
  get calls(): readonly string[] {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8').split('\n').filter(Boolean) : [];
  }

  /** Ends firewalld; the bus goes on. */
  async stop(): Promise<void> {
    const [, firewalld] = this.#processes;
    firewalld?.kill();
    if (firewalld !== undefined && firewalld.exitCode === null) await once(firewalld, 'exit');
  }

  [Symbol.dispose](): void {
    for (const each of this.#processes) each.kill('SIGKILL');
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #log(): string {
    return join(this.#directory, 'calls');
  }

  async #spawn(program: string, ...args: readonly string[]): Promise<void> {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#processes.push(child);
    // Both say a line when they are ready.
    await once(child.stdout, 'data');
  }
}

const SERVICE = fileURLToPath(new URL('./fake-firewalld-service.ts', import.meta.url));

const CONFIG = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=SOCKET</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;
