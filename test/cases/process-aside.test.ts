/**
 * A DEL leaves what the kernel still has to do to a process that outlives it. Nobody who waits for the DEL waits for that
 * process: it is stopped here, and so lives for as long as it takes to see.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { THROUGH_AGENT } from '../support/agent-lane.ts';
import { Node, type Pod } from '../support/node.ts';
import { installPlugins } from '../support/plugin-directory.ts';

const NETWORK = {
  cniVersion: '1.1.0',
  name: 'aside',
  plugins: [
    {
      type: 'bridge',
      bridge: 'hdaside0',
      isGateway: true,
      ipMasq: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.93.0.0/24' }], [{ subnet: 'fd00:93::/64' }]] },
    },
  ],
};

class Scene implements Disposable {
  readonly node = new Node();
  readonly network = this.node.network(JSON.stringify(NETWORK));
  readonly bin = installPlugins(join(this.node.directory, 'bin'));
  readonly runtime = this.node.runtime([this.bin]);
  readonly #config = { ...this.network.plugins[0], name: 'aside', cniVersion: '1.1.0' };

  /** The plugin's DEL, which answers on pipes. */
  del(pod: Pod): ChildProcess {
    const input = join(this.node.directory, 'stdin');
    writeFileSync(input, JSON.stringify(this.#config));
    const stdin = openSync(input, 'r');
    const child = this.node.inside(() =>
      spawn(join(this.bin, 'bridge'), {
        cwd: this.node.directory,
        env: {
          CNI_COMMAND: 'DEL',
          CNI_PATH: this.bin,
          CNI_CONTAINERID: pod.attachment.containerID,
          CNI_NETNS: pod.attachment.netns,
          CNI_IFNAME: pod.attachment.ifName,
        },
        stdio: [stdin, 'pipe', 'pipe'],
      }),
    );
    closeSync(stdin);
    return child;
  }

  [Symbol.dispose](): void {
    this.node[Symbol.dispose]();
  }
}

/** A process that is stopped, and ends when this is disposed of. */
class Stopped implements Disposable {
  readonly pid: number;

  constructor(pid: number) {
    this.pid = pid;
    process.kill(pid, 'SIGSTOP');
  }

  get state(): string {
    return stateOf(this.pid);
  }

  [Symbol.dispose](): void {
    if (this.state !== '' && this.state !== 'Z') process.kill(this.pid, 'SIGCONT');
  }
}

test('DEL has ended, and all that it held is free, while the process that deletes its link still lives', {
  skip: THROUGH_AGENT && 'the agent waits for the kernel itself',
}, async () => {
  using scene = new Scene();
  const { runtime, network, node } = scene;
  for (let attempt = 1; ; attempt++) {
    using pod = node.pod(`pod${attempt}`);
    await runtime.add(network, pod.attachment);
    const del = scene.del(pod);
    using aside = stopAside(del.pid ?? 0);
    if (aside === undefined || !(await endsBeside(del, aside))) {
      assert.ok(attempt < 100, 'no such process was seen in a hundred DELs');
      if (del.exitCode === null) await once(del, 'close');
      continue;
    }
    assert.equal(del.exitCode, 0);
    assert.match(aside.state, /^[TD]$/);
    assert.deepEqual(descriptors(aside.pid), ['socket']);
    assert.equal(readlinkSync(`/proc/${aside.pid}/cwd`), '/');
    assert.equal(sessionOf(aside.pid), aside.pid);
    // The lock of the addresses, the bridge, the tables: the next container takes them all.
    using next = node.pod(`next${attempt}`);
    await runtime.add(network, next.attachment);
    await runtime.check(network, next.attachment);
    await runtime.del(network, next.attachment);
    assert.match(aside.state, /^[TD]$/);
    return;
  }
});

/** Stops the process that a DEL has started while it is in the kernel with its request; nothing when none was seen. */
function stopAside(del: number): Stopped | undefined {
  while (!['', 'Z'].includes(stateOf(del))) {
    const found = childrenOf(del).find((pid) => stateOf(pid) === 'D' && descriptors(pid).length === 1);
    if (found !== undefined) return new Stopped(found);
  }
  return undefined;
}

/** Whether a DEL comes to its end, pipes included, though another process stands still. */
async function endsBeside(del: ChildProcess, aside: Stopped): Promise<boolean> {
  const closed = once(del, 'close').then(() => true);
  // A process that was stopped on the way into the kernel has not done what the DEL waits for.
  const ended = await Promise.race([closed, sleep(PATIENCE, false, { ref: false })]);
  if (!ended) aside[Symbol.dispose]();
  return ended;
}

/** Milliseconds, after which it is tried again. */
const PATIENCE = 20_000;

function childrenOf(pid: number): readonly number[] {
  return text(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** As in `ps`; empty when it is gone. */
function stateOf(pid: number): string {
  return fieldsOf(pid)[0] ?? '';
}

function sessionOf(pid: number): number {
  return Number(fieldsOf(pid)[3]);
}

/** What /proc says of a process, behind its name. */
function fieldsOf(pid: number): readonly string[] {
  return (text(`/proc/${pid}/stat`).split(') ')[1] ?? '').split(' ').filter(Boolean);
}

/** What a process has open, as `/proc` says it; a socket is `socket`. */
function descriptors(pid: number): string[] {
  try {
    const directory = `/proc/${pid}/fd`;
    return readdirSync(directory).map((fd) => linkText(join(directory, fd)).replace(/^socket:.*/, 'socket'));
  } catch {
    return [];
  }
}

function linkText(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
