/** Calls an IPAM plugin as a black box for tests: in this process, or as a binary. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type AttachmentId, parseJson } from '@heddle/cni';
import { ownerTag, type Plugin, type PluginHost, serve, tagKey } from '@heddle/cni/plugin';

/** One invocation. */
export interface PluginCall {
  readonly command: string;
  readonly config: object;
  readonly containerID?: string;
  readonly ifName?: string;
  readonly args?: string;
  /** Attachments whose ADD is under way elsewhere. */
  readonly inflight?: readonly AttachmentId[];
}

/** How it ended. */
export interface PluginAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What stdout says, `undefined` when it is empty. */
  readonly json: unknown;
}

/** Something that can be called as a plugin. */
export type Callee = (call: PluginCall) => Promise<PluginAnswer>;

/** A plugin in this process. It gets no kernel: an IPAM plugin has no business there. */
export function inProcess(plugin: Plugin): Callee {
  return async (call) => {
    const stdin = new TextEncoder().encode(JSON.stringify(call.config));
    const host = hostWithoutKernel(call.inflight ?? []);
    return answer(await serve(plugin, { env: environment(call), readStdin: () => stdin }, host));
  };
}

/** A plugin's binary. */
export function binary(path: string, argsOf: (call: PluginCall) => readonly string[] = () => []): Callee {
  return async (call) => {
    const child = spawn(path, argsOf(call), { env: environment(call) });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output.stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output.stderr += chunk;
    });
    child.stdin.end(JSON.stringify(call.config));
    const { promise, resolve, reject } = Promise.withResolvers<number | null>();
    child.on('error', reject).on('close', resolve);
    const exitCode = (await promise) ?? -1;
    return answer({ ...output, exitCode });
  };
}

/** A TypeScript program that plays a plugin; it gets the command and the container ID as arguments. */
export function program(path: string): Callee {
  return binary(process.execPath, ({ command, containerID = 'dummy' }) => [
    '--conditions=source',
    path,
    command,
    containerID,
  ]);
}

/** The reference's binary of a plugin, where Debian's package containernetworking-plugins is installed. */
export function referenceBinary(type: string): Callee | undefined {
  const path = `/usr/lib/cni/${type}`;
  return existsSync(path) ? binary(path) : undefined;
}

function environment({ command, containerID = 'dummy', ifName = 'eth0', args }: PluginCall) {
  return {
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerID,
    CNI_NETNS: '/some/where',
    CNI_IFNAME: ifName,
    CNI_PATH: '/some/bin',
    CNI_NETNS_OVERRIDE: '1',
    ...(args !== undefined && { CNI_ARGS: args }),
  };
}

function answer(outcome: Omit<PluginAnswer, 'json'>): PluginAnswer {
  return { ...outcome, json: outcome.stdout === '' ? undefined : parseJson(outcome.stdout) };
}

function hostWithoutKernel(inflight: readonly AttachmentId[]): PluginHost {
  const refuse = (): never => {
    throw new Error('an IPAM plugin asked for the kernel or for another plugin');
  };
  return {
    openNetns: refuse,
    openSession: refuse,
    findPlugin: refuse,
    invoke: refuse,
    inflight: {
      begin: () => ({ [Symbol.dispose]() {} }),
      forget: () => {},
      list: () => new Set(inflight.map((id) => tagKey(ownerTag(id)))),
    },
    clock: { now: () => 0 },
    random: { bytes: refuse },
  };
}
