/** What a check of a runtime works with: networks of recording plugins, namespaces, and calls of the runtime. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, renderResult } from '@heddle/cni';
import { makeDirectory } from '@heddle/sys';
import { must } from '../failure.ts';
import { type Call, callProgram } from '../lab/call.ts';
import type { House } from '../lab/house.ts';
import { Namespace } from '../lab/namespace.ts';
import { quoted } from '../report/reproduce.ts';
import { type Recorded, Recorders } from './recorder.ts';

/** What a runtime can be asked for. */
export type Verb = 'add' | 'del' | 'check' | 'gc' | 'status';

/** How a runtime is called for one check. */
export interface RuntimeCall {
  readonly network?: string;
  readonly netns?: Namespace;
  readonly ifName?: string;
  /** KEY=VALUE;… for CNI_ARGS. */
  readonly args?: string;
  /** Capability arguments. */
  readonly capabilityArgs?: JsonObject;
}

/** Members of a network list; plugins without a type are recorders in their order. */
export interface NetworkSpec {
  readonly name?: string;
  readonly cniVersion?: string;
  readonly plugins?: readonly Readonly<Record<string, JsonValue>>[];
  readonly more?: Readonly<Record<string, JsonValue>>;
}

/** The types of the recorders, in the order of an ordinary list. */
export const TYPES = ['kit-first', 'kit-second', 'kit-third'] as const;

/** See the file's comment. One for each check. */
export class RuntimeLab implements Disposable {
  readonly recorders: Recorders;
  readonly node: Namespace;
  readonly pod: Namespace;
  /** All calls of the runtime so far. */
  readonly calls: Call[] = [];
  readonly directory: string;
  /** The newest version of networks that the runtime knows. */
  readonly newest: string;
  readonly #template: string;
  readonly #surroundings: Readonly<Record<string, string>>;
  readonly #networks: string;
  readonly #signal: AbortSignal | undefined;

  constructor(facts: {
    readonly house: House;
    readonly number: number;
    readonly template: string;
    readonly surroundings: Readonly<Record<string, string>>;
    readonly newest: string;
    /** Ends calls, and the check with them. */
    readonly signal?: AbortSignal | undefined;
  }) {
    const { house, number, template, surroundings, newest, signal } = facts;
    this.#signal = signal;
    this.newest = newest;
    this.directory = join(house.directory, `runtime${number}`);
    this.#networks = join(this.directory, 'net.d');
    makeDirectory(this.#networks);
    this.recorders = new Recorders(this.directory, TYPES);
    this.node = new Namespace(`kit-host${number}`);
    this.pod = new Namespace(`kit-pod${number}`);
    this.#template = template;
    this.#surroundings = surroundings;
  }

  /** Writes a network list, with three recorders unless told otherwise, and what each is to answer. */
  network({ name = 'kitnet', cniVersion = this.newest, plugins, more = {} }: NetworkSpec = {}): void {
    const list = plugins ?? TYPES.map((type) => ({ type }));
    for (const type of TYPES) this.recorders.answer(type, this.result(type, cniVersion));
    const text = JSON.stringify({ cniVersion, name, plugins: list, ...more }, undefined, 2);
    writeFileSync(join(this.#networks, `${name}.conflist`), text);
  }

  /** Writes a plugin's object into the folder beside the network's file. */
  sibling(network: string, file: string, plugin: JsonObject): void {
    const directory = join(this.#networks, network);
    makeDirectory(directory);
    writeFileSync(join(directory, file), JSON.stringify(plugin));
  }

  /** What the ADD of a recorder answers: each something of its own. */
  result(type: string, cniVersion = this.newest): JsonObject {
    const index = TYPES.indexOf(type as (typeof TYPES)[number]) + 1;
    return renderResult(
      {
        cniVersion,
        interfaces: [{ name: 'eth0', mac: `02:00:00:00:00:0${index}`, sandbox: this.pod.path }],
        ips: [{ address: `10.99.${index}.2/24`, gateway: `10.99.${index}.1`, interface: 0 }],
        routes: [{ dst: '0.0.0.0/0' }],
        dns: { nameservers: ['10.99.0.53'] },
      },
      cniVersion,
    );
  }

  /** Calls the runtime; the calls of plugins before are forgotten. */
  async run(
    verb: Verb,
    options: RuntimeCall = {},
  ): Promise<{ readonly call: Call; readonly plugins: readonly Recorded[] }> {
    this.recorders.forget();
    const call = await this.#call(verb, options, this.#signal);
    this.#signal?.throwIfAborted();
    return { call, plugins: this.recorders.calls() };
  }

  /** Has the runtime end what it has left running, also when the check is being ended. */
  async clean(): Promise<void> {
    const call = await this.#call('clean', {});
    must(call.exitCode === 0, 'clean to succeed', () => said(call), call);
  }

  async #call(verb: Verb | 'clean', options: RuntimeCall, until?: AbortSignal): Promise<Call> {
    const { network = 'kitnet', netns = this.pod, ifName = 'eth0', args, capabilityArgs } = options;
    const words: Readonly<Record<string, string>> = { verb, network, netns: netns.path, ifname: ifName };
    const shell = this.#template.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const word = words[name];
      return word === undefined ? whole : quoted(word);
    });
    const env = {
      CNI_PATH: this.recorders.bin,
      CNI_IFNAME: ifName,
      ...(args !== undefined && { CNI_ARGS: args }),
    };
    const call = await callProgram({
      program: this.#template,
      env,
      surroundings: {
        ...this.#surroundings,
        NETCONFPATH: this.#networks,
        ...(capabilityArgs !== undefined && { CAP_ARGS: JSON.stringify(capabilityArgs) }),
      },
      stdin: '',
      node: this.node,
      shell,
      patience: 60_000,
      until: until === undefined ? [] : [until],
    });
    const told: Call = { ...call, program: shell };
    this.calls.push(told);
    must(!told.timedOut || until?.aborted === true, 'the runtime to end within a minute', 'no end', told);
    return told;
  }

  /** The same; it must succeed. */
  async succeed(verb: Verb, options: RuntimeCall = {}): Promise<readonly Recorded[]> {
    const { call, plugins } = await this.run(verb, options);
    must(call.exitCode === 0, `${verb} to succeed`, () => said(call), call);
    return plugins;
  }

  /** The same; it must fail. */
  async fail(
    verb: Verb,
    options: RuntimeCall = {},
  ): Promise<{ readonly call: Call; readonly plugins: readonly Recorded[] }> {
    const outcome = await this.run(verb, options);
    must(outcome.call.exitCode !== 0, `${verb} to fail`, 'success', outcome.call);
    return outcome;
  }

  [Symbol.dispose](): void {
    this.pod[Symbol.dispose]();
    this.node[Symbol.dispose]();
  }
}

/** What a runtime said, on both streams. */
export function said({ exitCode, stdout, stderr }: Call): string {
  const text = `${stdout} ${stderr}`.trim().replace(/\s+/g, ' ').slice(0, 400);
  return `exit code ${exitCode}${text === '' ? '' : `: ${text}`}`;
}

/** Whether `value` is `wanted`, whatever the order of members. */
export function equalJson(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(wanted)) {
    return value.length === wanted.length && value.every((each, index) => equalJson(each, wanted[index]));
  }
  if (!isJsonObject(value) || !isJsonObject(wanted)) return value === wanted;
  const keys = Object.keys(value);
  return (
    keys.length === Object.keys(wanted).length && keys.every((key) => equalJson(value[key], wanted[key]))
  );
}
