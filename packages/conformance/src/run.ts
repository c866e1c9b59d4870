/** Runs checks on a plugin. */
import type { JsonObject } from '@heddle/cni';
import { HeddleError } from '@heddle/errors';
import { type Check, type Kind, type Suite, suiteOf } from './check.ts';
import { CheckFailure, DoesNotApply, KitError } from './failure.ts';
import type { Call } from './lab/call.ts';
import { House } from './lab/house.ts';
import { Lab } from './lab/lab.ts';
import { Node, type NodeOptions } from './lab/node.ts';
import { CLAIMS_ALL, excuseFor, type Profile } from './profile.ts';
import { CHECKS } from './registry.ts';
import { companionsOf, detect } from './subject/detect.ts';
import { mustBeExecutable } from './subject/program.ts';
import type { Subject } from './subject/subject.ts';

/** What to check, and how. */
export interface ConformanceOptions {
  /** The plugin's file. */
  readonly program: string;
  /** Its object of a network list. Plugins of well-known names have one without. */
  readonly config?: JsonObject | undefined;
  /** Found out by trying when left out. */
  readonly kind?: Kind | undefined;
  /** All when left out. */
  readonly suites?: readonly Suite[] | undefined;
  /** Only these checks. */
  readonly only?: readonly string[] | undefined;
  readonly profile?: Profile | undefined;
  /** At how many system calls of each command checks kill, spread over all; `Infinity` for every one. Each check has its usual number. */
  readonly crashPoints?: number | undefined;
  /** A shell command that runs on the node for as long as the checks do, such as a daemon that the plugin talks to. */
  readonly daemon?: string | undefined;
  /** A path, such as the daemon's socket, that is there when it is ready; without it, the kit waits for a moment. */
  readonly ready?: string | undefined;
  /** The environment of calls, but for the protocol's own variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends the run: what was started is killed, and {@link checkPlugin} fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each check when it ends. */
  readonly onOutcome?: (outcome: Outcome) => void;
}

/** How one check ended. */
export interface Outcome {
  readonly id: string;
  readonly title: string;
  readonly suite: Suite;
  readonly status: 'passed' | 'failed' | 'skipped' | 'unclaimed';
  /** Why it was skipped or is not claimed. */
  readonly reason?: string;
  /** How it was done, where that is of interest. */
  readonly note?: string;
  readonly failure?: FailureReport;
  readonly milliseconds: number;
}

/** All that one needs to understand a failure. */
export interface FailureReport {
  readonly expected: string;
  readonly got: string;
  readonly why: string;
  /** The sentence of the specification, with its section, or `beyond the spec`. */
  readonly cites: string;
  /** The call that showed it. */
  readonly call?: Call;
}

/** What came of a run. */
export interface RunReport {
  /** The plugin's file, or the command that calls the runtime. */
  readonly program: string;
  readonly outcomes: readonly Outcome[];
  /** How long all of it took. */
  readonly milliseconds: number;
  /** What is known about a plugin. */
  readonly plugin?: PluginFacts;
}

/** What the kit has found out about a plugin. */
export interface PluginFacts {
  readonly type: string;
  readonly kind: Kind;
  readonly versions: readonly string[];
}

/**
 * Checks a plugin, on the kernel of this machine, in namespaces of its own. Needs root. The process is moved into mounts
 * of its own and stays there, so it should do nothing else, and may call this once.
 *
 * @throws {KitError} when there is nothing to check, or no permission to
 * @example
 * const { outcomes } = await checkPlugin({ program: '/opt/cni/bin/bridge', env: process.env });
 */
export async function checkPlugin(options: ConformanceOptions): Promise<RunReport> {
  const started = performance.now();
  const { program, env } = options;
  mustBeExecutable(program);
  const surroundings = withoutProtocol(env);
  using house = House.enter([program]);
  const { daemon, ready } = options;
  const daemons = daemon === undefined ? [] : [{ command: daemon, ready }];
  const subject = await detect(house, { ...options, daemons, surroundings });
  const outcomes: Outcome[] = [];
  using nodes = new Nodes({ house, subject, daemons, surroundings });
  for (const check of chosen(options)) {
    const outcome = await runCheck(
      check,
      {
        subject,
        house,
        nodes,
        surroundings,
        signal: options.signal,
        crashPoints: options.crashPoints,
      },
      options.profile ?? CLAIMS_ALL,
    );
    outcomes.push(outcome);
    options.onOutcome?.(outcome);
  }
  const { type, kind, versions } = subject;
  return { program, plugin: { type, kind, versions }, outcomes, milliseconds: performance.now() - started };
}

interface Bench {
  readonly subject: Subject;
  readonly house: House;
  readonly nodes: Nodes;
  readonly surroundings: Readonly<Record<string, string>>;
  readonly crashPoints: number | undefined;
  readonly signal: AbortSignal | undefined;
}

async function runCheck(check: Check, bench: Bench, profile: Profile): Promise<Outcome> {
  const { id, title } = check;
  const suite = suiteOf(check);
  const began = performance.now();
  const ended = (rest: Pick<Outcome, 'status'> & Partial<Outcome>): Outcome => {
    return { id, title, suite, ...rest, milliseconds: performance.now() - began };
  };
  const skipped = check.skips?.(bench.subject);
  if (skipped !== undefined) return ended({ status: 'skipped', reason: skipped });
  const excuse = excuseFor(profile, id);
  if (excuse !== undefined) return ended({ status: 'unclaimed', reason: excuse });
  bench.signal?.throwIfAborted();
  const node = await bench.nodes.take(suite);
  using lab = new Lab({
    ...bench,
    node,
    renewed: () => bench.nodes.renew(suite),
    network: `${node.tag}-${id.replace('/', '.')}`.slice(0, 60),
  });
  try {
    await check.run(lab);
    const passed = ended({ status: 'passed', ...noted(lab) });
    if (bench.nodes.areShared) await lab.tidy();
    return passed;
  } catch (error) {
    bench.signal?.throwIfAborted();
    if (error instanceof DoesNotApply) {
      if (bench.nodes.areShared) await lab.tidy();
      return ended({ status: 'skipped', reason: error.message });
    }
    bench.nodes.spoil();
    // What else is thrown is a defect of the kit, and no fault of the plugin.
    if (error instanceof KitError || !(error instanceof HeddleError)) throw error;
    const failure = failureReport(check, error, lab.calls.at(-1));
    return ended({ status: 'failed', ...noted(lab), failure });
  }
}

function noted({ noted: note }: Lab): Pick<Outcome, 'note'> {
  return note === undefined ? {} : { note };
}

/** All about a failure. @param last the call that showed it, where the error does not say */
export function failureReport(
  { cites, why }: Pick<Check, 'cites' | 'why'>,
  error: unknown,
  last: Call | undefined,
): FailureReport {
  const sentence = cites === 'beyond the spec' ? cites : `${cites.section}: “${cites.words}”`;
  const call = error instanceof CheckFailure ? (error.call ?? last) : last;
  const common = { why, cites: sentence, ...(call !== undefined && { call }) };
  if (error instanceof CheckFailure) return { expected: error.expected, got: error.got, ...common };
  // What the plugin has left surprised the kit itself: that, too, is an answer.
  return { expected: 'a node and containers that can be looked at', got: String(error), ...common };
}

/** What all nodes of a run have in common. */
type NodeFacts = Pick<Bench, 'house' | 'subject' | 'surroundings'> & Pick<NodeOptions, 'daemons'>;

/** A fresh node for each check; with a daemon of the caller's, one for all checks of a suite as long as they pass. */
class Nodes implements Disposable {
  readonly #facts: NodeFacts;
  #current: { readonly node: Node; readonly suite: Suite } | undefined;
  #made = 0;

  constructor(facts: NodeFacts) {
    this.#facts = facts;
  }

  async take(suite: Suite): Promise<Node> {
    const { daemons, subject } = this.#facts;
    if (this.#current !== undefined && this.areShared && this.#current.suite === suite)
      return this.#current.node;
    this.spoil();
    const node = await Node.make({
      ...this.#facts,
      number: ++this.#made,
      setup: subject.setup,
      daemons: [...daemons, ...companionsOf({ ...subject, daemons })],
    });
    this.#current = { node, suite };
    return node;
  }

  /** Another one, on which nothing has run yet. */
  async renew(suite: Suite): Promise<Node> {
    this.spoil();
    this.#facts.house.forget();
    return await this.take(suite);
  }

  /** Whether the next check gets the same one. */
  get areShared(): boolean {
    return this.#facts.daemons.length > 0;
  }

  /** The next check gets another one. */
  spoil(): void {
    this.#current?.node[Symbol.dispose]();
    this.#current = undefined;
  }

  [Symbol.dispose](): void {
    this.spoil();
  }
}

function chosen({ suites, only }: ConformanceOptions): readonly Check[] {
  const unknown = only?.find((id) => !CHECKS.some((check) => check.id === id));
  if (unknown !== undefined) throw new KitError(`there is no check called ${unknown}`);
  return CHECKS.filter(
    (check) => (suites?.includes(suiteOf(check)) ?? true) && (only?.includes(check.id) ?? true),
  );
}

/** An environment without the variables of the protocol. */
export function withoutProtocol(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('CNI_'),
    ),
  );
}
