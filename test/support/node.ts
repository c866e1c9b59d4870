/**
 * A node for tests: a private network namespace with its own directories, in which runtimes and plugins run as
 * processes, as they would on a machine.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkConfigList } from '@heddle/cni';
import {
  type Attachment,
  FileLocks,
  loadNetworkFile,
  Runtime,
  type RuntimeOptions,
  systemExec,
} from '@heddle/cni/runtime';
import { TestNetns } from '@heddle/plugins/testing';
import { runInNetns } from '@heddle/sys';
import { startAgent, THROUGH_AGENT } from './agent-lane.ts';

/** A pod: a namespace, and what a runtime says about it. */
export class Pod extends TestNetns {
  readonly attachment: Attachment & { readonly netns: string };

  constructor(id: string, more: Partial<Attachment> = {}) {
    super();
    this.attachment = { containerID: id, ifName: 'eth0', netns: this.path, ...more };
  }
}

/** See the file's comment. */
export class Node extends TestNetns {
  /** An empty directory of this node's own. */
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-node-'));
  readonly #agent: Disposable;

  constructor() {
    super();
    this.run('ip', 'link', 'set', 'lo', 'up');
    this.#agent = THROUGH_AGENT ? startAgent(this.handle, this.directory) : new DisposableStack();
  }

  /** Runs something in this node's namespace, synchronously; programs that it starts are born there. */
  inside<T>(run: () => T): T {
    return runInNetns(this.handle, run);
  }

  /** A fresh pod. */
  pod(id: string, more: Partial<Attachment> = {}): Pod {
    return new Pod(id, more);
  }

  /** A runtime that runs the plugins of `path` in this node. */
  runtime(path: readonly string[], options: Partial<RuntimeOptions> = {}): Runtime {
    const exec = systemExec();
    return new Runtime({
      path,
      env: process.env,
      cacheDir: join(this.directory, 'cache'),
      locks: new FileLocks(join(this.directory, 'locks')),
      // A process is born in the namespace of the thread that starts it, which is done before the first wait.
      exec: { find: exec.find, run: (run) => runInNetnsStart(this, () => exec.run(run)) },
      ...options,
    });
  }

  /** A network from the text of its list, with every data directory below this node's. */
  network(text: string): NetworkConfigList {
    const list = JSON.parse(text) as {
      name: string;
      plugins: { ipam?: { type?: string; dataDir?: string } }[];
    };
    for (const { ipam } of list.plugins)
      if (ipam?.type === 'host-local') ipam.dataDir ??= join(this.directory, 'ipam');
    const directory = join(this.directory, 'net.d');
    mkdirSync(directory, { recursive: true });
    const file = join(directory, `${list.name}.conflist`);
    writeFileSync(file, JSON.stringify(list, undefined, 2));
    return loadNetworkFile(file) as NetworkConfigList;
  }

  override [Symbol.dispose](): void {
    this.#agent[Symbol.dispose]();
    super[Symbol.dispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function runInNetnsStart<T>(node: TestNetns, start: () => Promise<T>): Promise<T> {
  let started: Promise<T> | undefined;
  runInNetns(node.handle, () => {
    started = start();
  });
  if (started === undefined) throw new Error('nothing was started');
  return started;
}
