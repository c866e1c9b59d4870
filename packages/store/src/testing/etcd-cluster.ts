/** Real etcd servers for tests, on addresses that nobody else has, with their data in a directory of their own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Why tests on etcd are skipped here; `false` when they are not. */
export function etcdMissing(): string | false {
  return spawnSync('etcd', ['--version']).status === 0 ? false : 'not installed: etcd (etcd-server)';
}

/** What a cluster is like. */
export interface ClusterOptions {
  /** How many members it has; 1 by default. */
  readonly size?: number;
  readonly tls?: ServerFiles;
  /** How many bytes the database may have before etcd takes no more changes. */
  readonly quota?: number;
  /** Starts each member somewhere else, such as in a namespace, in which alone its addresses then are. */
  readonly within?: (start: () => ChildProcess) => ChildProcess;
}

/** Files that make members speak TLS to clients. */
export interface ServerFiles {
  readonly cert: string;
  readonly key: string;
  /** Who must have signed the clients' certificates. */
  readonly clientCa: string;
}

interface Member {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
  process?: ChildProcess;
}

/** The addresses of this process's members, for certificates. */
export function memberAddresses(): readonly string[] {
  return Array.from({ length: 64 }, (_, n) => addressOf(n + 1));
}

function addressOf(n: number): string {
  return `127.${1 + (process.pid & 0x7f)}.${(process.pid >> 7) & 0xff}.${n}`;
}

let clusters = 0;

/** See the file's comment. */
export class EtcdCluster implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-etcd-'));
  readonly #members: readonly Member[];
  readonly #options: ClusterOptions;

  private constructor(options: ClusterOptions) {
    const { size = 1, tls } = options;
    const first = 1 + 8 * clusters++;
    this.#options = options;
    this.#members = Array.from({ length: size }, (_, n) => ({
      name: `m${n}`,
      client: `${tls === undefined ? 'http' : 'https'}://${addressOf(first + n)}:2379`,
      peer: `http://${addressOf(first + n)}:2380`,
    }));
  }

  /** Starts the members, and returns once they answer. */
  static async start(options: ClusterOptions = {}): Promise<EtcdCluster> {
    const cluster = new EtcdCluster(options);
    for (const n of cluster.#members.keys()) cluster.resume(n);
    await Promise.all([...cluster.#members.keys()].map((n) => cluster.#ready(n)));
    return cluster;
  }

  get endpoints(): readonly string[] {
    return this.#members.map(({ client }) => client);
  }

  /** Ends a member as a power cut would. */
  async kill(n: number): Promise<void> {
    const member = this.#member(n);
    const process = member.process;
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
  }

  /** Starts a member that was killed, with the data that it had. */
  resume(n: number): void {
    const member = this.#member(n);
    const log = openSync(this.#log(member), 'a');
    const { within = (start) => start() } = this.#options;
    member.process = within(() => spawn('etcd', this.#arguments(member), { stdio: ['ignore', log, log] }));
    closeSync(log);
  }

  /** Calls a method through the JSON gateway of a cluster without TLS, and returns what it answers. */
  async gateway(path: string, body: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.endpoints[0]}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#members.keys()].map((n) => this.kill(n)));
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #ready(n: number): Promise<void> {
    const member = this.#member(n);
    const log = () => readFileSync(this.#log(member), 'utf8');
    while (!/ready to serve client requests|serving (insecure )?client requests/.test(log())) {
      if (member.process?.exitCode !== null) throw new Error(`etcd did not start: ${log()}`);
      await pause(20);
    }
  }

  #member(n: number): Member {
    const member = this.#members[n];
    if (member === undefined) throw new RangeError(`no member ${n}`);
    return member;
  }

  #log(member: Member): string {
    return join(this.#directory, `${member.name}.log`);
  }

  #arguments({ name, client, peer }: Member): readonly string[] {
    const { tls, quota } = this.#options;
    return [
      ['--name', name],
      ['--data-dir', join(this.#directory, name)],
      ['--unsafe-no-fsync'],
      ['--listen-client-urls', client],
      ['--advertise-client-urls', client],
      ['--listen-peer-urls', peer],
      ['--initial-advertise-peer-urls', peer],
      ['--initial-cluster', this.#members.map((each) => `${each.name}=${each.peer}`).join(',')],
      ...(quota === undefined ? [] : [['--quota-backend-bytes', String(quota)]]),
      ...(tls === undefined
        ? []
        : [
            [
              '--cert-file',
              tls.cert,
              '--key-file',
              tls.key,
              '--trusted-ca-file',
              tls.clientCa,
              '--client-cert-auth',
            ],
          ]),
    ].flat();
  }
}
