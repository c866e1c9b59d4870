/**
 * What the place that a plugin runs in has to offer: the standalone binary, the agent, a runtime's own
 * process. A plugin cannot tell which it is.
 */
import type { KernelSession } from '@heddle/netlink';
import type { NetnsHandle } from '@heddle/sys';
import type { AttachmentId } from '../attachment.ts';
import type { Command } from '../environment.ts';
import type { Decoded } from './decoded.ts';
import type { Plugin } from './definition.ts';

/** Wall-clock time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A source of random bytes. */
export interface Random {
  bytes(count: number): Uint8Array;
}

/** One execution of a plugin's binary. */
export interface PluginExecution {
  readonly type: string;
  /** The binary's path. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Uint8Array;
  /** On abort the process is killed, and what it has started. */
  readonly signal?: AbortSignal | undefined;
}

/** Marks attachments whose ADD is under way, across processes. */
export interface InflightPort {
  /**
   * Sets a mark until the return value is disposed of, or the process ends.
   *
   * @param key the owner's tag, as `tagKey` writes it
   */
  begin(key: string): Disposable;
  /** Takes away what the mark of a process that was killed left; a mark that is set stays. */
  forget(key: string): void;
  /** The keys that are marked now. */
  list(): ReadonlySet<string>;
}

/** One operation on one attachment. */
export interface Operation {
  /** The plugin's type. */
  readonly type: string;
  readonly command: Command;
  readonly attachment: AttachmentId;
}

/** The ports of a plugin's surroundings. */
export interface PluginHost {
  /** @throws {SysError} ENOENT when there is nothing at `path`, EINVAL when it is no network namespace */
  openNetns(path: string): NetnsHandle;
  /** Opens the kernel as seen from `netns`, or from the process's own namespace. */
  openSession(netns?: NetnsHandle): KernelSession;
  /**
   * Finds a plugin's binary.
   *
   * @throws {CniError} when no directory of `path` holds it
   */
  findPlugin(type: string, path: readonly string[]): string;
  /**
   * Runs a binary and returns its stdout.
   *
   * @throws {PluginError} the plugin's own error
   */
  invoke(execution: PluginExecution): Promise<string>;
  /** The code of the binary at `path`, when that is one of ours: it then runs without a process. */
  inProcess?(type: string, path: string): Plugin | undefined | Promise<Plugin | undefined>;
  /**
   * Waits until nobody else works on the attachment, in whatever process; the operation ends with the result's
   * disposal. Left out where nobody else can.
   *
   * @throws {CniError} code 11 when that takes too long
   */
  exclusive?(operation: Operation): Promise<Disposable>;
  /** Aborted when nobody waits for the answer any more: an ADD is then taken back when it has ended. */
  readonly caller?: AbortSignal;
  /** What was decoded for earlier calls, in a process that serves many. */
  readonly decoded?: Decoded;
  readonly inflight: InflightPort;
  readonly clock: Clock;
  readonly random: Random;
}
