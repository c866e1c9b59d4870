/** The calls of one invocation, backed by its surroundings. Each class is what one verb, or two, are handed. */
import type { KernelSession } from '@heddle/netlink';
import type { NetnsHandle } from '@heddle/sys';
import { loadArgs } from '../args.ts';
import type { AttachmentId } from '../attachment.ts';
import { decodeConfig } from '../decode.ts';
import { decodeLeniently } from '../decode-leniently.ts';
import type { Command } from '../environment.ts';
import { toCniError } from '../errors.ts';
import type { JsonObject } from '../json-value.ts';
import type { Result } from '../result.ts';
import type { AddCall, AttachmentCall, BaseCall, DelCall, Delegate, IpamDelegate } from './calls.ts';
import type { Delegates } from './delegate.ts';
import type { Clock, Random } from './host.ts';
import { readPrevResult } from './prev-result.ts';
import type { Run } from './run.ts';
import type { Sessions } from './sessions.ts';
import { Teardown, UndoStack } from './undo.ts';

/** What every verb gets. */
export class LiveCall implements BaseCall<unknown> {
  readonly command: Command;
  readonly network: string;
  readonly cniVersion: string;
  readonly config: unknown;
  readonly raw: JsonObject;
  readonly stdin: Uint8Array;
  readonly path: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  protected readonly sessions: Sessions;
  readonly #delegates: Delegates;
  readonly #warn: (message: string) => void;

  constructor(run: Run, sessions: Sessions, delegates: Delegates) {
    const { plugin, request, ports } = run;
    this.command = run.command;
    this.network = request.network;
    this.cniVersion = request.cniVersion;
    this.config = readConfig(run);
    this.raw = request.raw;
    this.stdin = request.stdin;
    this.path = run.invocation.path;
    this.#delegates = delegates;
    this.clock = ports.clock;
    this.random = ports.random;
    this.sessions = sessions;
    this.#warn = (message) => run.warn(`${plugin.type}: ${message}`);
  }

  get host(): KernelSession {
    return this.sessions.host;
  }

  get ipam(): IpamDelegate {
    return this.#delegates.ipam;
  }

  delegate(config: JsonObject): Delegate {
    return this.#delegates.to(config);
  }

  openSession(netns: NetnsHandle): KernelSession {
    return this.sessions.open(netns);
  }

  warn(message: string): void {
    this.#warn(message);
  }
}

/** What the verbs about one attachment get. */
class LiveAttachmentCall extends LiveCall implements AttachmentCall<unknown> {
  readonly attachment: AttachmentId;
  readonly containerID: string;
  readonly ifName: string;
  readonly netnsPath: string;
  readonly cniArgs: string;
  readonly args: Readonly<Record<string, string | undefined>>;
  declare readonly prevResult?: Result;

  constructor(run: Run, sessions: Sessions, delegates: Delegates) {
    super(run, sessions, delegates);
    const { plugin, invocation, request } = run;
    this.containerID = invocation.containerID;
    this.ifName = invocation.ifName;
    this.attachment = { network: request.network, containerID: this.containerID, ifName: this.ifName };
    this.netnsPath = invocation.netns;
    this.cniArgs = invocation.args;
    this.args = plugin.argKeys === undefined ? {} : readArgs(run, plugin.argKeys);
    const prevResult = readPrevResult(run);
    if (prevResult !== undefined) this.prevResult = prevResult;
  }
}

/** What ADD and CHECK get: the container must be there. */
export class LiveContainerCall extends LiveAttachmentCall implements AddCall<unknown> {
  readonly undo: UndoStack;

  constructor(run: Run, sessions: Sessions, delegates: Delegates, undo = new UndoStack()) {
    super(run, sessions, delegates);
    this.undo = undo;
  }

  get netns(): NetnsHandle {
    return this.sessions.netns;
  }

  get container(): KernelSession {
    return this.sessions.container;
  }
}

/** What DEL gets: the container may be gone. */
export class LiveDelCall extends LiveAttachmentCall implements DelCall<unknown> {
  readonly teardown = new Teardown();

  get container(): KernelSession | undefined {
    return this.sessions.containerIfPresent;
  }
}

/** The configuration; for taking something down what is not valid in it is left out, and warned of. */
function readConfig(run: Run): unknown {
  const { plugin, command, request, warn } = run;
  const options = { what: `${plugin.type} configuration`, source: { text: request.text, path: [] } };
  if (!takesDown(command)) {
    return recall(run, 'whole', () => decodeConfig(plugin.config, request.raw, options));
  }
  const { output, ignored } = recall(run, 'valid', () =>
    decodeLeniently(plugin.config, request.raw, options),
  );
  for (const problem of ignored) warn(`${plugin.type}: ${problem}; going on without it`);
  return output;
}

/** The previous result is another one for each pod, and no plugin's configuration. */
function recall<T>({ plugin, request, ports }: Run, part: 'whole' | 'valid', decode: () => T): T {
  const { decoded } = ports;
  if (decoded === undefined) return decode();
  const purpose = `${part} ${plugin.type}`;
  if (decoded.keeps(request.raw)) return decoded.recall(purpose, request.raw, decode);
  const { prevResult: _, ...config } = request.raw;
  return decoded.recall(purpose, config, decode);
}

function readArgs({ plugin, command, invocation, warn }: Run, keys: readonly string[]) {
  try {
    return loadArgs(invocation.args, keys);
  } catch (error) {
    if (!takesDown(command)) throw error;
    warn(`${plugin.type}: ${toCniError(error).message}; going on without CNI_ARGS`);
    return {};
  }
}

function takesDown(command: Command): boolean {
  return command === 'DEL' || command === 'GC';
}
