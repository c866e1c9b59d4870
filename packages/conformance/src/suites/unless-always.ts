/**
 * What checks of hard circumstances ask at their end, each unless it fails in plain circumstances too: another check tells
 * that, and it says nothing about the circumstances.
 */
import { CheckFailure, DoesNotApply, must } from '../failure.ts';
import type { Call } from '../lab/call.ts';
import type { Container } from '../lab/container.ts';
import { type CallOptions, jsonOf, type Lab, outcome } from '../lab/lab.ts';
import type { Snapshot } from '../lab/snapshot.ts';
import { same } from './unchanged.ts';

/**
 * CHECK succeeds.
 *
 * @param why completes "expected CHECK to succeed"
 * @throws {DoesNotApply} when it fails right after any ADD, which `check/right-after-add` tells
 */
export async function mustBeSound(
  lab: Lab,
  container: Container,
  { why = '', ...options }: CallOptions & { readonly why?: string } = {},
): Promise<void> {
  const call = await lab.call('CHECK', container, options);
  if (call.exitCode === 0) return;
  const other = await lab.container();
  if ((await added(lab, other)).exitCode === 0) {
    const { exitCode } = await lab.call('CHECK', other);
    if (exitCode !== 0) throw new DoesNotApply('CHECK fails right after ADD, which another check tells');
  }
  must(false, `CHECK to succeed${why}`, () => outcome(call), call);
}

/**
 * ADD of a container that was detached succeeds.
 *
 * @throws {DoesNotApply} when it fails after any DEL, which `idempotence/add-again` tells
 */
export async function mustComeBack(lab: Lab, container: Container): Promise<void> {
  const call = await added(lab, container);
  if (call.exitCode === 0) return;
  const other = await lab.container();
  if ((await added(lab, other)).exitCode === 0 && (await lab.call('DEL', other)).exitCode === 0) {
    const { exitCode } = await added(lab, other);
    if (exitCode !== 0) throw new DoesNotApply('ADD fails after any DEL, which another check tells');
  }
  must(false, 'ADD to succeed', () => outcome(call), call);
}

/**
 * The node is as it was.
 *
 * @param counts the lines that are compared; all when left out
 * @throws {DoesNotApply} when it is not after any ADD and DEL, which `leaks/node` tells
 */
export async function mustBeAsBefore(
  lab: Lab,
  before: Snapshot,
  after: string,
  counts: (line: string) => boolean = () => true,
): Promise<void> {
  const compare = async (earlier: Snapshot) =>
    same(earlier.filter(counts), (await lab.snapshot()).filter(counts), `a node as it was before ${after}`);
  const found = await failure(() => compare(before));
  if (found === undefined) return;
  const now = await lab.snapshot();
  const other = await lab.container();
  if ((await added(lab, other)).exitCode === 0) await lab.call('DEL', other);
  if ((await failure(() => compare(now))) !== undefined)
    throw new DoesNotApply('any ADD and DEL leave something, which another check tells');
  throw found;
}

async function added(lab: Lab, container: Container): Promise<Call> {
  const call = await lab.call('ADD', container);
  if (call.exitCode === 0) container.result = jsonOf(call);
  return call;
}

async function failure(run: () => Promise<void>): Promise<CheckFailure | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof CheckFailure) return error;
    throw error;
  }
}
