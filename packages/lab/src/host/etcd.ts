/** Members of etcd on machines of the lab. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { makeDirectory } from '@heddle/sys';
import { LabError } from '../lab-error.ts';
import type { HostPlan } from '../plan.ts';
import type { Host } from './host.ts';

/** See the file's comment. */
export class EtcdMembers {
  readonly #members: readonly { readonly plan: HostPlan; readonly host: Host; process?: ChildProcess }[];

  constructor(members: readonly { readonly plan: HostPlan; readonly host: Host }[]) {
    this.#members = members.map((member) => ({ ...member }));
  }

  /** Where clients find them, as the URL of a store. */
  get url(): string {
    return `etcd://${this.#members.map(({ plan }) => hostPort(plan, CLIENT)).join(',')}`;
  }

  /** The names of those that there are. */
  get names(): readonly string[] {
    return this.#members.map(({ plan }) => plan.name);
  }

  /** Starts all of them, and waits until they serve. */
  async start(): Promise<void> {
    for (const { plan } of this.#members) this.#launch(plan.name);
    await Promise.all(this.#members.map(({ plan }) => this.#ready(plan.name)));
  }

  /** Ends a member as a power cut would; its data stay. */
  async kill(name: string): Promise<void> {
    const { process } = this.#member(name);
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
  }

  /** Starts a member that was killed. */
  resume(name: string): void {
    this.#launch(name);
  }

  #launch(name: string): void {
    const member = this.#member(name);
    const { plan, host } = member;
    const log = host.within(() => {
      makeDirectory('/run/etcd', 0o700);
      return openSync(LOG, 'a');
    });
    const [client, peer] = [`http://${hostPort(plan, CLIENT)}`, `http://${hostPort(plan, PEER)}`];
    const all = this.#members.map((each) => `${each.plan.name}=http://${hostPort(each.plan, PEER)}`);
    member.process = host.spawn(
      [
        ...['etcd', '--name', name, '--data-dir', '/run/etcd/data', '--unsafe-no-fsync'],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', all.join(',')],
      ],
      { stdio: ['ignore', log, log] },
    );
    // That it cannot be started shows when it does not serve.
    member.process.on('error', () => undefined);
    closeSync(log);
  }

  async #ready(name: string): Promise<void> {
    const member = this.#member(name);
    for (;;) {
      const log = member.host.within(() => readFileSync(LOG, 'utf8'));
      if (/ready to serve client requests|serving (insecure )?client requests/.test(log)) return;
      if (member.process?.pid === undefined) {
        throw new LabError('LAB_FAILED', 'there is no etcd on this machine', {
          hint: 'use the store sqlite',
        });
      }
      if (member.process.exitCode !== null) {
        throw new LabError('LAB_FAILED', `${name} ended: ${log.trim().split('\n').at(-1)}`);
      }
      await pause(20);
    }
  }

  #member(name: string): { readonly plan: HostPlan; readonly host: Host; process?: ChildProcess } {
    const member = this.#members.find(({ plan }) => plan.name === name);
    if (member !== undefined) return member;
    throw new LabError('LAB_MISSING', `there is no member of etcd called ${name}`);
  }
}

const LOG = '/run/etcd/log';
const CLIENT = 2379;
const PEER = 2380;

function hostPort({ addresses: [first] }: HostPlan, port: number): string {
  return first?.family === 6 ? `[${first.addr}]:${port}` : `${first?.addr}:${port}`;
}
