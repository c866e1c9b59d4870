/**
 * A node for tests: a private network namespace with its own directories, in which runtimes and plugins run as
 * processes, as they would on a machine.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkConfigList } from '@heddle/cni';
import { type PluginHost, serve } from '@heddle/cni/plugin';
import {
  type Attachment,
  agentExec,
  FileLocks,
  type InProcessPlugins,
  inProcessExec,
  loadNetworkFile,
  type PluginExec,
  Runtime,
  type RuntimeOptions,
  systemExec,
  systemPluginHost,
} from '@heddle/cni/runtime';
import { openSession } from '@heddle/netlink';
import { PLUGINS } from '@heddle/plugins';
import { TestNetns } from '@heddle/plugins/testing';
import { type NetnsHandle, runInNetns } from '@heddle/sys';
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

  /** A runtime that runs the plugins of `path` in this node, in the way that HEDDLE_TEST_RUNTIME says. */
  runtime(path: readonly string[], options: Partial<RuntimeOptions> = {}): Runtime {
    return new Runtime({
      path,
      env: process.env,
      cacheDir: join(this.directory, 'cache'),
      locks: new FileLocks(join(this.directory, 'locks')),
      exec: this.exec(process.env['HEDDLE_TEST_RUNTIME']),
      ...options,
    });
  }

  /**
   * Plugins as processes of this node; with `agent`, chains go to its agent in one request, and with `in-process` our
   * plugins run in this process.
   */
  exec(way?: string): PluginExec {
    const system = systemExec();
    // A process is born in the namespace of the thread that starts it, which is done before the first wait.
    const executables: PluginExec = {
      find: system.find,
      run: (run) => runInNetnsStart(this, () => system.run(run)),
    };
    if (way === 'in-process') return inProcessExec(ownPlugins(this.handle), executables);
    if (way !== 'agent') return executables;
    const agent = agentExec({ socket: join(this.directory, 'agent.sock'), otherwise: executables });
    return {
      ...agent,
      ahead: (chain) => runInNetnsStart(this, async () => (await agent.ahead?.(chain)) ?? agent),
    };
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

/** Our plugins in this process, for which the host is a namespace that it is not in. */
function ownPlugins(node: NetnsHandle): InProcessPlugins {
  const system = systemPluginHost();
  const host: PluginHost = {
    ...system,
    openSession: (netns) => openSession({ netns: netns ?? node }),
    findPlugin: (type, path) => (PLUGINS.has(type) ? type : system.findPlugin(type, path)),
    inProcess: (type) => PLUGINS.get(type),
  };
  return {
    has: (type) => PLUGINS.has(type),
    async serve(type, invocation) {
      const plugin = PLUGINS.get(type);
      if (plugin === undefined) throw new Error(`there is no plugin ${type}`);
      return await serve(plugin, invocation, host);
    },
  };
}

function runInNetnsStart<T>(node: TestNetns, start: () => Promise<T>): Promise<T> {
  let started: Promise<T> | undefined;
  runInNetns(node.handle, () => {
    started = start();
  });
  if (started === undefined) throw new Error('nothing was started');
  return started;
}
