/**
 * The agent's client as an installation has it, with a stand-in for the standalone program that tells how it was
 * called, and whatever listens at the socket.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DelQueue } from '@heddle/cni/runtime';
import { buildShim } from '../../scripts/build-shim.ts';

/** How a call ended. */
export interface ShimOutcome {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What is told about a call. */
export interface ShimCall {
  readonly type?: string;
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array | null;
  readonly args?: readonly string[];
  /** A program to start it with. */
  readonly through?: readonly string[];
  readonly uid?: number;
}

/** See the file's comment. */
export class ShimLab implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-shim-'));
  readonly socket = join(this.directory, 'agent.sock');
  readonly queue = new DelQueue(join(this.directory, 'var', 'queue'));
  readonly #after = new AsyncDisposableStack();

  /** @param withStandalone whether there is a program to fall back to */
  constructor({ withStandalone = true, types = ['bridge', 'host-local', 'dhcp', 'no-such'] } = {}) {
    copyFileSync(buildShim(), join(this.directory, 'heddle-shim'));
    for (const type of types) symlinkSync('heddle-shim', join(this.directory, type));
    if (withStandalone) writeFileSync(join(this.directory, 'heddle-cni'), STANDALONE, { mode: 0o755 });
  }

  /** Has something done at the end. */
  after(act: () => Promise<void> | void): void {
    this.#after.defer(act);
  }

  /** Listens in the agent's place. */
  async listen(serve: (socket: Socket) => void): Promise<void> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(this.socket, resolve));
    this.after(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
  }

  /** Starts a call. */
  start(call: ShimCall = {}): { readonly child: ChildProcess; readonly ended: Promise<ShimOutcome> } {
    const { type = 'bridge', command = 'ADD', env = {}, stdin = CONFIG, args = [], through = [], uid } = call;
    const [program = '', ...rest] = [...through, join(this.directory, type), ...args];
    const child = spawn(program, rest, {
      env: {
        ...{ CNI_COMMAND: command, CNI_CONTAINERID: 'c1', CNI_IFNAME: 'eth0', CNI_PATH: this.directory },
        ...{ HEDDLE_AGENT_SOCKET: this.socket, HEDDLE_AGENT_QUEUE: this.queue.directory },
        ...{ HEDDLE_AGENT_DEADLINE_MS: '20000', PATH: process.env['PATH'] ?? '', ...env },
      },
      ...(uid !== undefined && { uid, gid: uid }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => (stdout += text));
    child.stderr.on('data', (text) => (stderr += text));
    child.stdin.on('error', () => {});
    if (stdin !== null) child.stdin.end(stdin);
    const { promise, resolve } = Promise.withResolvers<ShimOutcome>();
    child.on('close', (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }));
    return { child, ended: promise };
  }

  /** Makes a call. */
  async call(call: ShimCall = {}): Promise<ShimOutcome> {
    return await this.start(call).ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#after.disposeAsync();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** What is on stdin unless told otherwise. */
export const CONFIG = JSON.stringify({ cniVersion: '1.1.0', name: 'n1', type: 'bridge' });

/** Tells the command and its arguments, then repeats its input. */
const STANDALONE = `#!/bin/sh
echo "standalone $CNI_COMMAND $# $1"
cat
`;
