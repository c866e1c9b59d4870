/** The etcd of a lab, asked and harmed by a member's own JSON gateway, as an operator would with etcdctl. */
import assert from 'node:assert/strict';
import type { RunningLab } from '@heddle/lab';
import { until } from '../support/until.ts';
import { base64, gatewayCommand } from './etcd-gateway.ts';

/** See the file's comment. */
export class LabEtcd {
  readonly #lab: RunningLab;

  constructor(lab: RunningLab) {
    this.#lab = lab;
  }

  /** The names of the members: who leads, and the others. */
  async roles(): Promise<{ readonly leader: string; readonly others: readonly [string, string] }> {
    return await until(
      'a leader',
      async () => {
        const names = await this.#names();
        for (const name of names) {
          const status = await this.ask(name, 'maintenance/status', {});
          const { leader, header } = status as { leader: string; header: { member_id: string } };
          const [one = '', two = ''] = names.filter((other) => other !== name);
          if (leader === header.member_id) return { leader: name, others: [one, two] };
        }
        return undefined;
      },
      PATIENCE,
    );
  }

  /** Calls a method at a member. @throws with what it says when it refuses */
  async ask(member: string, path: string, body: object): Promise<unknown> {
    const endpoint = `http://198.18.1.${200 + Number(member.slice(-1))}:2379`;
    const command = [...gatewayCommand(endpoint, path, body)];
    const { status, stdout, stderr } = await this.#lab.ask('run', { on: member, command });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  }

  /** Forgets all history, and ends all leases: whoever was away must read all anew, and nobody is there any more. */
  async compactAndExpire(): Promise<void> {
    const { leader } = await this.roles();
    const { header } = (await this.ask(leader, 'maintenance/status', {})) as { header: { revision: string } };
    await this.ask(leader, 'kv/compaction', { revision: header.revision, physical: true });
    const { leases = [] } = (await this.ask(leader, 'lease/leases', {})) as { leases?: { ID: string }[] };
    assert.ok(leases.length > 0);
    for (const { ID } of leases) await this.ask(leader, 'lease/revoke', { ID });
  }

  /** Has etcd take no more, as when its database is as large as it may be; or again. */
  async setFull(isFull: boolean): Promise<void> {
    const { leader } = await this.roles();
    const { header } = (await this.ask(leader, 'maintenance/status', {})) as {
      header: { member_id: string };
    };
    const action = isFull ? 'ACTIVATE' : 'DEACTIVATE';
    await this.ask(leader, 'maintenance/alarm', { action, memberID: header.member_id, alarm: 'NOSPACE' });
  }

  /** Gives a member a disk that has a few megabytes left, with the data that it has. */
  async moveToSmallDisk(member: string): Promise<void> {
    await this.#lab.ask('killEtcd', { member });
    await this.#shell(
      member,
      `size=$(( $(du -sm --apparent-size /run/etcd | cut -f1) + 8 ))m
       cp -a /run/etcd /run/etcd.before
       mount -t tmpfs -o size=$size disk /run/etcd
       cp -a /run/etcd.before/. /run/etcd
       rm -r /run/etcd.before`,
    );
    await this.#lab.ask('resumeEtcd', { member });
    await this.answers(member);
  }

  /** Fills that disk. */
  async fillDisk(member: string): Promise<void> {
    await this.#shell(member, '! dd if=/dev/zero of=/run/etcd/others bs=64k 2>/dev/null');
  }

  /** Makes room on it again, and starts the member anew, for it may have ended. */
  async clearDisk(member: string): Promise<void> {
    await this.#shell(member, 'rm /run/etcd/others');
    await this.restart(member);
  }

  /** Ends a member as a power cut would, and starts it. */
  async restart(member: string): Promise<void> {
    await this.#lab.ask('killEtcd', { member });
    await this.#lab.ask('resumeEtcd', { member });
    await this.answers(member);
  }

  /** Waits until a member answers for the cluster. */
  async answers(member: string): Promise<void> {
    const key = base64('x');
    await until(`${member} to answer`, () => this.ask(member, 'kv/range', { key }), PATIENCE);
  }

  async #names(): Promise<readonly string[]> {
    return (await this.#lab.ask('status', {})).etcd;
  }

  async #shell(on: string, script: string): Promise<void> {
    const { status, stderr } = await this.#lab.ask('run', { on, command: ['sh', '-ec', script] });
    assert.equal(status, 0, stderr);
  }
}

/** Seconds, for busy machines. */
const PATIENCE = 120;
