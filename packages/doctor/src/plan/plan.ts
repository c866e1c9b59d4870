/** What ADD changes: runs the plugins for real, in namespaces that are thrown away. */
import { dirname } from 'node:path';
import {
  type CniError,
  isJsonObject,
  type JsonValue,
  type NetworkConfigList,
  renderResult,
  toCniError,
} from '@heddle/cni';
import {
  type Attachment,
  type Environment,
  execPlugin,
  type PluginExec,
  type PluginOutput,
  type PluginRun,
  Runtime,
  systemExec,
} from '@heddle/cni/runtime';
import { type KernelSession, openSession } from '@heddle/netlink';
import { bindNetns, createNetns, makeDirectory, type NetnsHandle, runInNetns, SysError } from '@heddle/sys';
import { differences } from './differences.ts';
import { mirrorHost } from './mirror.ts';
import { type Item, type Matter, snapshotOf } from './snapshot.ts';
import { Stage, type WrittenFile } from './stage.ts';

/** What to try. */
export interface PlanRequest {
  /** The node as it is; only read. */
  readonly host: KernelSession;
  readonly list: NetworkConfigList;
  /** Its namespace's path is where the throw-away one will be; below /run. */
  readonly attachment: Attachment & { readonly netns: string };
  /** The plugin directories. */
  readonly path: readonly string[];
  /** The environment that plugins inherit. */
  readonly env: Environment;
  readonly cacheDir: string;
  /** Milliseconds that a plugin may take. Default 30,000. */
  readonly patience?: number;
}

/** A difference that a plugin made. */
export interface PlannedChange {
  readonly side: 'host' | 'pod';
  /** What was added, or what is gone; a change is both. */
  readonly sign: '+' | '-';
  readonly matter: Matter;
  readonly text: string;
  /** The type of the plugin. */
  readonly by: string;
  /** The host has it already: it was made only because the ruleset is not copied. */
  readonly isThere?: boolean;
}

/** A plugin that was run. */
export interface PlannedStep {
  readonly type: string;
  /** To the byte. */
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it failed. */
  readonly failure?: string;
}

/** See the file's comment. */
export interface Plan {
  /** The result of ADD, in the network's version; nothing when it failed. */
  readonly result?: JsonValue;
  /** Why it failed. */
  readonly failure?: CniError;
  readonly steps: readonly PlannedStep[];
  readonly changes: readonly PlannedChange[];
  readonly files: readonly (WrittenFile & { readonly by: string })[];
  /** What is different from the node, each a sentence. */
  readonly notes: readonly string[];
}

/**
 * Runs ADD on a copy of the node. The process is moved into mounts of its own, for good: call it in one that ends soon.
 *
 * The copy has the node's links (one that leads nowhere where a device or a tunnel cannot be made), addresses, routes, rules and
 * parameters, and its files; what plugins write is kept in memory. Daemons and other hosts cannot be reached.
 *
 * @throws {SysError} EPERM without CAP_SYS_ADMIN
 */
export async function planAdd(request: PlanRequest): Promise<Plan> {
  const { host, list, attachment } = request;
  using node = createNetns();
  using pod = createNetns();
  using nodeSession = openSession({ netns: node, mode: 'sync' });
  using podSession = openSession({ netns: pod, mode: 'sync' });
  using away = createNetns();
  using beyond = openSession({ netns: away, mode: 'sync' });
  const present = await snapshotOf(host, OTHER.host);
  const mirrored = await mirrorHost(host, nodeSession, {
    named: textsIn(list.plugins.map(({ raw }) => raw)),
    beyond,
  });
  const stage = Stage.enter(node);
  makeDirectory(dirname(attachment.netns));
  bindNetns(pod, attachment.netns);
  const recorder = new Recorder(
    node,
    { host: nodeSession, pod: podSession },
    stage,
    request.patience ?? PATIENCE,
  );
  await recorder.begin();
  const outcome = await add(request, recorder);
  const there = new Set(present.map(({ matter, text }) => `${matter} ${text}`));
  return {
    ...outcome,
    steps: recorder.steps,
    changes: recorder.changes.map((change) =>
      RULESET.includes(change.matter) && there.has(`${change.matter} ${change.text}`)
        ? { ...change, isThere: true }
        : change,
    ),
    files: recorder.files,
    notes: notesOf(mirrored, stage, present, await legacyTables(nodeSession)),
  };
}

const PATIENCE = 30_000;
const OTHER = { host: 'in the pod', pod: 'on the host' } as const;
const RULESET: readonly Matter[] = ['nftables', 'iptables'];

async function add(
  { list, attachment, path, env, cacheDir }: PlanRequest,
  exec: PluginExec,
): Promise<Pick<Plan, 'result' | 'failure'>> {
  const runtime = new Runtime({ path, env, cacheDir, exec });
  try {
    const result = await runtime.add(list, attachment);
    return { result: renderResult(result, result.cniVersion) };
  } catch (error) {
    return { failure: toCniError(error) };
  }
}

/** Runs plugins on the copy of the node, and looks at both sides after each. */
class Recorder implements PluginExec {
  readonly steps: PlannedStep[] = [];
  readonly changes: PlannedChange[] = [];
  readonly files: (WrittenFile & { readonly by: string })[] = [];
  readonly #node: NetnsHandle;
  readonly #sides: Readonly<Record<PlannedChange['side'], KernelSession>>;
  readonly #stage: Stage;
  readonly #patience: number;
  readonly #programs = systemExec();
  #before: Readonly<Record<PlannedChange['side'], readonly Item[]>> = { host: [], pod: [] };
  #written = new Set<string>();

  constructor(
    node: NetnsHandle,
    sides: Readonly<Record<PlannedChange['side'], KernelSession>>,
    stage: Stage,
    patience: number,
  ) {
    this.#node = node;
    this.#sides = sides;
    this.#stage = stage;
    this.#patience = patience;
  }

  async begin(): Promise<void> {
    this.#before = await this.#look();
    this.#written = new Set(this.#stage.written().map(({ path }) => path));
  }

  find(type: string, path: readonly string[]): string {
    return this.#programs.find(type, path);
  }

  async run(run: PluginRun): Promise<PluginOutput> {
    const { type } = run;
    const stdin = typeof run.stdin === 'string' ? run.stdin : new TextDecoder().decode(run.stdin);
    try {
      const output = await this.#start({ ...run, signal: AbortSignal.timeout(this.#patience) });
      this.steps.push({ type, stdin, ...output });
      return output;
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      this.steps.push({ type, stdin, stdout: '', stderr: '', failure });
      throw error;
    } finally {
      await this.#record(type);
    }
  }

  /** A process that was born in a namespace stays there. */
  #start(run: PluginRun): Promise<PluginOutput> {
    const started: Promise<PluginOutput>[] = [];
    runInNetns(this.#node, () => {
      started.push(execPlugin(run));
    });
    return Promise.all(started).then(([output]) => output ?? { stdout: '', stderr: '' });
  }

  async #record(by: string): Promise<void> {
    const after = await this.#look();
    for (const side of ['host', 'pod'] as const) {
      this.changes.push(
        ...differences(this.#before[side], after[side]).map((each) => ({ ...each, side, by })),
      );
    }
    this.#before = after;
    const fresh = this.#stage.written().filter(({ path }) => !this.#written.has(path));
    for (const { path } of fresh) this.#written.add(path);
    this.files.push(...fresh.map((file) => ({ ...file, by })));
  }

  async #look() {
    return {
      host: await snapshotOf(this.#sides.host, OTHER.host),
      pod: await snapshotOf(this.#sides.pod, OTHER.pod),
    };
  }
}

function notesOf(
  { standIns, leftOut, refused }: Awaited<ReturnType<typeof mirrorHost>>,
  { readOnly }: Stage,
  present: readonly Item[],
  legacy: string,
): readonly string[] {
  const stood = standIns.map(({ name, kind }) => `${name} (${kind})`).join(', ');
  const ruleset = new Set(present.map(({ matter }) => matter).filter((matter) => RULESET.includes(matter)));
  return [
    ...(stood === '' ? [] : [`Links that lead nowhere stand in for ${stood}.`]),
    ...(leftOut === 0 ? [] : [`${leftOut} ends of links to other containers were left out.`]),
    ...(ruleset.size === 0
      ? []
      : [
          `The node's own ${[...ruleset].join(' and ')} rules are not copied; what it has already is marked "there already".`,
        ]),
    ...(readOnly.length === 0 ? [] : [`${readOnly.join(', ')} could only be read.`]),
    ...(legacy.trim() === ''
      ? []
      : [`Rules of legacy iptables (tables ${legacy.trim().split('\n').join(', ')}) are not shown.`]),
    'Daemons, sockets below /run and other hosts could not be reached.',
    ...refused.map((text) => `Not copied: ${text}.`),
  ];
}

/** The tables of legacy iptables that are in use, a line each. */
async function legacyTables({ procNet }: KernelSession): Promise<string> {
  try {
    return procNet.read('ip_tables_names');
  } catch (error) {
    if (error instanceof SysError) return '';
    throw error;
  }
}

/** Every text in a configuration: names of links are among them. */
function textsIn(value: JsonValue): ReadonlySet<string> {
  if (typeof value === 'string') return new Set([value]);
  const members = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return new Set(members.flatMap((member: JsonValue) => [...textsIn(member)]));
}
