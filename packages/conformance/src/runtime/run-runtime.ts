/** Runs checks on a runtime. */
import { CURRENT_VERSION } from '@heddle/cni';
import { HeddleError } from '@heddle/errors';
import { makeDirectory, mountTmpfs, unmount } from '@heddle/sys';
import { DoesNotApply, KitError } from '../failure.ts';
import { House } from '../lab/house.ts';
import { CLAIMS_ALL, excuseFor, type Profile } from '../profile.ts';
import { failureReport, type Outcome, type RunReport, withoutProtocol } from '../run.ts';
import { DERIVATION_CHECKS } from './derivation.ts';
import { LIFECYCLE_CHECKS } from './lifecycle.ts';
import type { RuntimeCheck } from './runtime-check.ts';
import { RuntimeLab } from './runtime-lab.ts';
import { UPKEEP_CHECKS } from './upkeep.ts';

/** All checks of runtimes. */
export const RUNTIME_CHECKS: readonly RuntimeCheck[] = [
  ...DERIVATION_CHECKS,
  ...LIFECYCLE_CHECKS,
  ...UPKEEP_CHECKS,
];

/** What to check, and how. */
export interface RuntimeConformanceOptions {
  /**
   * A shell command that has the runtime do one thing. `{verb}` stands for add, del, check, gc or status, `{network}` for the
   * network's name, `{netns}` for the path of the namespace, `{ifname}` for the interface. NETCONFPATH names the directory
   * of networks, CNI_PATH that of plugins, CNI_ARGS and CAP_ARGS the arguments, as for cnitool.
   */
  readonly template: string;
  /** What the report calls it; the template unless told otherwise. */
  readonly name?: string | undefined;
  /** Whether `{verb}` may also stand for `clean`, which ends what the runtime has left running; called after each check. */
  readonly cleans?: boolean | undefined;
  /** Only these checks. */
  readonly only?: readonly string[] | undefined;
  readonly profile?: Profile | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends the run: what was started is killed and cleaned up, and {@link checkRuntime} fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly onOutcome?: (outcome: Outcome) => void;
}

/**
 * Checks a runtime with plugins that note how they are called. Needs root; the process is moved into mounts of its own.
 *
 * @example await checkRuntime({ template: 'cnitool {verb} {network} {netns}', env: process.env });
 */
export async function checkRuntime(options: RuntimeConformanceOptions): Promise<RunReport> {
  const started = performance.now();
  const { template, only, profile = CLAIMS_ALL, env, signal } = options;
  const unknown = only?.find((id) => !RUNTIME_CHECKS.some((check) => check.id === id));
  if (unknown !== undefined) throw new KitError(`there is no check called ${unknown}`);
  using house = House.enter([]);
  using _ = ownMount('/run/netns');
  const outcomes: Outcome[] = [];
  const chosen = RUNTIME_CHECKS.filter(({ id }) => only?.includes(id) ?? true);
  for (const [number, check] of chosen.entries()) {
    const newest = profile.cniVersion ?? CURRENT_VERSION;
    const facts = { house, number, template, newest, surroundings: withoutProtocol(env), signal };
    const outcome = await runCheck(check, facts, options);
    outcomes.push(outcome);
    options.onOutcome?.(outcome);
  }
  return { program: options.name ?? template, outcomes, milliseconds: performance.now() - started };
}

/** Runtimes put the directory on top of itself where it is no mount yet, and hide what is bound there. */
function ownMount(path: string): Disposable {
  makeDirectory(path);
  mountTmpfs(path);
  return { [Symbol.dispose]: () => unmount(path) };
}

async function runCheck(
  check: RuntimeCheck,
  facts: ConstructorParameters<typeof RuntimeLab>[0],
  { profile = CLAIMS_ALL, cleans = false, signal }: RuntimeConformanceOptions,
): Promise<Outcome> {
  const { id, title } = check;
  const began = performance.now();
  const ended = (rest: Pick<Outcome, 'status'> & Partial<Outcome>): Outcome => {
    return { id, title, suite: 'runtime', ...rest, milliseconds: performance.now() - began };
  };
  const excuse = excuseFor(profile, id);
  if (excuse !== undefined) return ended({ status: 'unclaimed', reason: excuse });
  signal?.throwIfAborted();
  using lab = new RuntimeLab(facts);
  try {
    await check.run(lab);
    return ended({ status: 'passed' });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof DoesNotApply) return ended({ status: 'skipped', reason: error.message });
    if (error instanceof KitError || !(error instanceof HeddleError)) throw error;
    return ended({ status: 'failed', failure: failureReport(check, error, lab.calls.at(-1)) });
  } finally {
    if (cleans) await lab.clean();
  }
}
