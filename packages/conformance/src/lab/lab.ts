/** What a check works with: a node, containers, and calls of the plugin under test. */
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseResult,
  type Result,
  renderResult,
  VALID_ATTACHMENT_KEYS,
} from '@heddle/cni';
import { CheckFailure, KitError, must } from '../failure.ts';
import type { Subject } from '../subject/subject.ts';
import { type Call, callProgram } from './call.ts';
import { Container } from './container.ts';
import { isHeld } from './held.ts';
import type { House } from './house.ts';
import { Namespace, setDuplicateDetection } from './namespace.ts';
import type { Node } from './node.ts';
import { filesIn, type Snapshot, snapshotOf } from './snapshot.ts';
import type { StubIpam } from './stub-ipam.ts';
import { makeUpstream } from './upstream.ts';

/** What a call differs in from an ordinary one. */
export interface CallOptions {
  /** Members of the configuration; `undefined` takes one away. */
  readonly config?: Readonly<Record<string, JsonValue | undefined>>;
  /** The whole of stdin, in place of a configuration. */
  readonly stdin?: string | Uint8Array;
  /** Variables; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** In place of what a runtime would send; `null` for none. */
  readonly prevResult?: JsonValue;
  /** A shell command that ends in running `"$0"`, the plugin. */
  readonly shell?: string;
  /** Milliseconds that the call may take. */
  readonly patience?: number;
  /** Kills the plugin, and all that it has started, when it is aborted. */
  readonly until?: AbortSignal;
}

/** The outcome of a successful ADD. */
export interface Added {
  readonly call: Call;
  /** What was printed. */
  readonly json: JsonObject;
  /** The same in the newest form. */
  readonly result: Result;
}

/** An attachment as GC names it. */
export type Attached = Pick<Container, 'id' | 'ifName'>;

/** See the file's comment. One for each check. */
export class Lab implements Disposable {
  readonly subject: Subject;
  readonly house: House;
  /** The network's name in ordinary calls. */
  readonly network: string;
  /** At how many system calls of each command to kill; `undefined` for as many as the check takes by itself. */
  readonly crashPoints: number | undefined;
  /** All calls so far. */
  readonly calls: Call[] = [];
  #node: Node;
  readonly #renewed: (() => Promise<Node>) | undefined;
  readonly #surroundings: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal | undefined;
  #containers: Container[] = [];
  #note: string | undefined;
  /** Those whose last ADD has not been followed by a DEL. */
  readonly #attached = new Set<Container>();

  constructor(facts: {
    readonly subject: Subject;
    readonly house: House;
    readonly node: Node;
    readonly network: string;
    readonly surroundings: Readonly<Record<string, string>>;
    readonly crashPoints?: number | undefined;
    /** Ends calls, and the check with them. */
    readonly signal?: AbortSignal | undefined;
    /** Gives up the node for another one, on which no plugin has run yet. */
    readonly renewed?: () => Promise<Node>;
  }) {
    this.subject = facts.subject;
    this.house = facts.house;
    this.#node = facts.node;
    this.#renewed = facts.renewed;
    this.stub.forgetCalls();
    this.network = facts.network;
    this.#surroundings = facts.surroundings;
    this.#signal = facts.signal;
    this.crashPoints = facts.crashPoints;
  }

  get node(): Namespace {
    return this.#node.namespace;
  }

  get stub(): StubIpam {
    return this.#node.stub;
  }

  /** The processes of the daemons that run on the node. */
  get daemons(): readonly number[] {
    return this.#node.daemons;
  }

  /** Starts a daemon anew that has ended, or is to. @param index which one, as in {@link daemons} */
  async restartDaemon(index: number): Promise<void> {
    await this.#node.restart(index);
  }

  /** Goes on with another node, on which no plugin has run yet; nothing of the former one is left, nor any container. */
  async renew(): Promise<void> {
    if (this.#renewed === undefined) throw new KitError('this lab has one node only');
    for (const container of this.#containers) container[Symbol.dispose]();
    this.#containers = [];
    this.#attached.clear();
    this.#node = await this.#renewed();
  }

  /** What a report is to say about how the check was done; `undefined` for nothing. */
  get noted(): string | undefined {
    return this.#note;
  }

  /** Says something about how the check is done. */
  note(text: string): void {
    this.#note = text;
  }

  /** A fresh container, with the interface of an earlier plugin where the one under test is chained. */
  async container(id?: string): Promise<Container> {
    const { subject } = this;
    const n = this.#node.nextContainer();
    const namespace = new Namespace(`${this.#node.tag}-c${n}`);
    const { ifName } = subject;
    await setDuplicateDetection(namespace, 'quick');
    await subject.setup.prepareContainer?.(this.node, n);
    await this.#node.lan?.join(namespace, n);
    const upstream =
      subject.kind === 'chained' ? await makeUpstream(this.node, namespace, { n, ifName }) : undefined;
    const container = new Container({ n, id: id ?? `${this.network}-c${n}`, ifName, namespace, upstream });
    this.#containers.push(container);
    return container;
  }

  /** Several at once. */
  async containers(count: number): Promise<readonly Container[]> {
    const made: Container[] = [];
    while (made.length < count) made.push(await this.container());
    return made;
  }

  /** The configuration of an ordinary call about the n-th container. */
  config(n: number, changes: CallOptions['config'] = {}): JsonObject {
    const base: Readonly<Record<string, JsonValue | undefined>> = {
      cniVersion: this.subject.version,
      name: this.network,
      ...this.subject.object(n),
      ...changes,
    };
    return Object.fromEntries(
      Object.entries(base).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
    );
  }

  /** The directories of CNI_PATH. */
  get path(): string {
    return `${dirname(this.subject.program)}:${this.stub.bin}`;
  }

  /** Calls the plugin as a runtime does. @param container `undefined` for commands that are about none */
  async call(command: string, container?: Container, options: CallOptions = {}): Promise<Call> {
    const { env = {}, shell, patience = PATIENCE, until } = options;
    const variables = {
      CNI_COMMAND: command,
      CNI_PATH: this.path,
      ...(container !== undefined && {
        CNI_CONTAINERID: container.id,
        CNI_NETNS: container.netns,
        CNI_IFNAME: container.ifName,
        CNI_ARGS: '',
      }),
      ...env,
    };
    const call = await callProgram({
      program: this.subject.program,
      env: Object.fromEntries(
        Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
      surroundings: this.#surroundings,
      stdin: options.stdin ?? this.#stdin(command, container, options),
      node: this.node,
      shell,
      patience,
      until: [until, this.#signal].filter((each) => each !== undefined),
    });
    this.#signal?.throwIfAborted();
    this.calls.push(call);
    if (container !== undefined && command === 'ADD') this.#attached.add(container);
    if (container !== undefined && command === 'DEL' && call.exitCode === 0) this.#attached.delete(container);
    must(!call.timedOut, `an end within ${patience / 1000} s`, 'none: it was killed', call);
    return call;
  }

  /** ADD that must succeed. */
  async add(container: Container, options: CallOptions = {}): Promise<Added> {
    const call = await this.call('ADD', container, options);
    mustSucceed(call);
    const json = jsonOf(call);
    container.result = json;
    const version = String(options.config?.['cniVersion'] ?? this.subject.version);
    return { call, json, result: readResult(json, version, call) };
  }

  /** DEL that must succeed. */
  async del(container: Container, options: CallOptions = {}): Promise<Call> {
    return mustSucceed(await this.call('DEL', container, options));
  }

  /** CHECK that must succeed. */
  async check(container: Container, options: CallOptions = {}): Promise<Call> {
    return mustSucceed(await this.call('CHECK', container, options));
  }

  /** GC; it need not succeed. */
  async gc(valid: readonly Attached[], options: CallOptions = {}): Promise<Call> {
    const list = valid.map(({ id, ifName }) => ({ containerID: id, ifname: ifName }));
    const keys = Object.fromEntries(VALID_ATTACHMENT_KEYS.map((key) => [key, list]));
    return await this.call('GC', undefined, { ...options, config: { ...keys, ...options.config } });
  }

  /** The first ADD and DEL on a node make what all attachments share: bridges, tables, chains, directories. */
  async warmUp(): Promise<void> {
    const container = await this.container();
    await this.add(container);
    await this.del(container);
    await this.end(container);
  }

  /** A full look at the node and at what plugins have written, but for the links of containers' earlier plugins. */
  async snapshot(): Promise<Snapshot> {
    const own = this.#containers.flatMap(({ n }) => [`kitveth${n}`, `kitdev${n}`, `kitend${n}`]);
    const kits = own.length === 0 ? undefined : new RegExp(`\\b(${own.join('|')})\\b`);
    const lines = [...(await snapshotOf(this.node)), ...filesIn(this.house.written)];
    return lines.filter((line) => !(kits?.test(line) ?? false) || /^(qdisc|filter|nftables)/.test(line));
  }

  /** The addresses that the DHCP server of the containers' network has given and not got back; nothing where there is none. */
  leases(): Snapshot {
    return (this.#node.lan?.leases ?? []).map((address) => `lease ${address} of the DHCP server`);
  }

  /** Ends a container: its namespace is gone when this returns, unless somebody else holds it. */
  async end(container: Container): Promise<void> {
    // The kernel takes the interfaces of a namespace away in its own time, and all at once: so one of them tells.
    const { links } = this.#node.morgue.session;
    const canary = `end${container.n}`;
    await links.add({
      kind: 'veth',
      name: canary,
      peer: { name: 'kitend', netns: container.namespace.handle },
    });
    const ino = Number(container.namespace.handle.ino);
    container[Symbol.dispose]();
    for (let waited = 0; waited < GONE_WITHIN && (await links.find(canary)) !== undefined; waited += 5) {
      if (waited % LOOKS_AFTER === LOOKS_AFTER - 5 && isHeld(ino)) return;
      await sleep(5);
    }
  }

  /** Leaves the node to the next check: what is attached is detached, and all containers are gone. */
  async tidy(): Promise<void> {
    for (const container of this.#attached) await this.call('DEL', container).catch(() => {});
    for (const container of this.#containers) if (container.isAlive) await this.end(container);
  }

  [Symbol.dispose](): void {
    for (const container of this.#containers) container[Symbol.dispose]();
  }

  #stdin(command: string, container: Container | undefined, options: CallOptions): string {
    const config = this.config(container?.n ?? 0, options.config);
    const version = typeof config['cniVersion'] === 'string' ? config['cniVersion'] : '0.1.0';
    const sent =
      options.prevResult === undefined ? previous(command, container, version) : options.prevResult;
    return JSON.stringify(sent === null ? config : { ...config, prevResult: sent });
  }
}

/** Generous: the machine may be busy. Whoever waits for ever is found out all the same. */
const PATIENCE = 120_000;
/** Milliseconds between looks for somebody who holds a namespace: they take a while. */
const LOOKS_AFTER = 500;
/** Milliseconds that the kernel has to take a namespace down; it does that for one after the other. */
export const GONE_WITHIN = 60_000;

/** What a runtime sends as the previous result; `null` for nothing. */
function previous(command: string, container: Container | undefined, version: string): JsonValue {
  if (container === undefined) return null;
  if (command === 'ADD')
    return container.upstream === undefined ? null : rendered(container.upstream, version);
  if (command === 'DEL' || command === 'CHECK') return container.result ?? null;
  return null;
}

function rendered(result: Result, version: string): JsonObject {
  try {
    return renderResult(result, version);
  } catch {
    // A version that the kit does not know; the plugin is about to refuse it.
    return renderResult(result, '1.1.0');
  }
}

/** @throws {CheckFailure} unless the call succeeded */
export function mustSucceed(call: Call): Call {
  must(call.exitCode === 0, `${call.env['CNI_COMMAND']} to succeed`, () => outcome(call), call);
  return call;
}

/** The JSON object that a call printed. @throws {CheckFailure} when it printed anything else */
export function jsonOf(call: Call): JsonObject {
  try {
    const json: unknown = JSON.parse(call.stdout);
    if (isJsonObject(json)) return json;
  } catch {
    // What is told below.
  }
  throw new CheckFailure('exactly one JSON object on stdout', shortened(call.stdout) || 'nothing', call);
}

/** How a call ended, in words. */
export function outcome({ exitCode, signal, stdout, stderr }: Call): string {
  const end = signal === null ? `exit code ${exitCode}` : `death by ${signal}`;
  const said = shortened(stdout) || (stderr === '' ? '' : `stderr: ${shortened(stderr)}`);
  return said === '' ? `${end}, without a word` : `${end}, ${said}`;
}

function readResult(json: JsonObject, version: string, call: Call): Result {
  try {
    return parseResult(json, { version });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CheckFailure(`a result of version ${version}`, `one that cannot be read: ${why}`, call);
  }
}

/** A text as it fits into a message. */
export function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
