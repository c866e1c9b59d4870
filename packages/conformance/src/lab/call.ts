/** One call of a program under test: what it was given, and what came of it. */
import { runProcess } from '@heddle/cni/runtime';
import type { Namespace } from './namespace.ts';

/** The variables of the protocol, all or some. */
export type CniEnvironment = Readonly<Record<string, string>>;

/** A call and its outcome. */
export interface Call {
  readonly program: string;
  /** The variables of the protocol that were set. */
  readonly env: CniEnvironment;
  readonly stdin: string | Uint8Array;
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it had to be killed because it did not end by itself. */
  readonly timedOut: boolean;
}

/** How to call a program. */
export interface CallRequest {
  readonly program: string;
  readonly env: CniEnvironment;
  /** Variables that are not the protocol's. */
  readonly surroundings: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array;
  /** Where the process is born. */
  readonly node: Namespace;
  /** A shell command that ends in running `"$0"`, the program; for what only a shell can arrange. */
  readonly shell?: string | undefined;
  /** Milliseconds until it is killed, with all that it started. */
  readonly patience: number;
  /** Kill it earlier. */
  readonly until?: readonly AbortSignal[] | undefined;
}

/** Calls a program. A process that was born in a namespace stays there. */
export async function callProgram(request: CallRequest): Promise<Call> {
  const { program, env, surroundings, stdin, node, shell, patience, until = [] } = request;
  const expiry = AbortSignal.timeout(patience);
  const signal = AbortSignal.any([expiry, ...until]);
  const all = { ...surroundings, ...env };
  const run =
    shell === undefined
      ? { path: program, env: all, stdin, signal }
      : { path: '/bin/sh', args: ['-c', shell, program], env: all, stdin, signal };
  let started: ReturnType<typeof runProcess> | undefined;
  node.inside(() => {
    started = runProcess(run);
  });
  if (started === undefined) throw new Error('nothing was started');
  const { exitCode, signal: killed, stdout, stderr } = await started;
  return {
    program,
    env,
    stdin,
    exitCode,
    signal: killed,
    stdout,
    stderr,
    timedOut: signal.aborted && killed === 'SIGKILL',
  };
}
