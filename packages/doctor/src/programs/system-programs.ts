/** The programs of this machine. */
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { CniError } from '@heddle/cni';
import { type Environment, findPlugin, type PluginExec, Runtime, systemExec } from '@heddle/cni/runtime';
import { notStarted } from './not-started.ts';
import type { Program, ProgramKind, Programs } from './program.ts';

/** Where to look, and how to ask. */
export interface SystemProgramsOptions {
  /** The plugin directories, in the order in which they are searched. */
  readonly directories: readonly string[];
  /** The environment that plugins inherit. */
  readonly env: Environment;
  /** Default: as executables. */
  readonly exec?: PluginExec;
  /** Milliseconds that a program may take to say its versions. Default 5000. */
  readonly patience?: number;
}

/** See the file's comment. A program is looked at once, however often it is asked for. */
export function systemPrograms({
  directories,
  env,
  exec = systemExec(),
  patience = 5000,
}: SystemProgramsOptions): Programs {
  const runtime = new Runtime({ path: directories, env, exec });
  const known = new Map<string, Promise<Program>>();
  const look = async (type: string): Promise<Program> => {
    const found = find(type, directories);
    if (found.path === undefined) return found;
    return { ...found, ...contentOf(found.path), ...(await versionsOf(runtime, type, patience)) };
  };
  return {
    directories,
    inspect(type) {
      const program = known.get(type) ?? look(type);
      known.set(type, program);
      return program;
    },
  };
}

function find(type: string, directories: readonly string[]): Program {
  try {
    return { type, ...findPlugin(type, directories) };
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    const problem = [error.message, error.cniDetails ?? '', error.hint ?? ''].filter((text) => text !== '');
    return { type, obstacles: [], problem: problem.join('; ') };
  }
}

function contentOf(path: string): Pick<Program, 'target' | 'kind' | 'size' | 'sha256'> {
  const target = realpathSync(path);
  const link = target === path ? {} : { target };
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch {
    // Executables need not be readable.
    return { ...link, kind: 'unknown' };
  }
  return {
    ...link,
    kind: kindOf(target, content),
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  };
}

function kindOf(target: string, content: Buffer): ProgramKind {
  if (content.subarray(0, 2).toString('latin1') === '#!') return 'script';
  if (content.subarray(0, 4).toString('latin1') !== '\x7fELF') return 'unknown';
  if (basename(target) === HEDDLE_PROGRAM) return "Heddle's program";
  return content.length < LARGEST_CLIENT && content.includes(HEDDLE_PROGRAM)
    ? "Heddle's client"
    : 'ELF program';
}

/** The name of the program that Heddle's client starts when there is no agent. */
const HEDDLE_PROGRAM = 'heddle-cni';
/** A client is small, and has the name of that program in it. */
const LARGEST_CLIENT = 2 << 20;

async function versionsOf(
  runtime: Runtime,
  type: string,
  patience: number,
): Promise<Pick<Program, 'versions' | 'problem' | 'isStartable'>> {
  try {
    const answer = await runtime.version(type, { signal: AbortSignal.timeout(patience) });
    if ('supportedVersions' in answer) return { versions: answer.supportedVersions };
    return silence(answer.unknown);
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    return silence(error);
  }
}

function silence(error: CniError): Pick<Program, 'problem' | 'isStartable'> {
  const why = notStarted(error);
  if (why !== undefined) return { problem: `it cannot be started: ${why}`, isStartable: false };
  const details = error.cniDetails === undefined ? '' : `; ${error.cniDetails}`;
  return { problem: `it does not say its versions: ${error.message}${details}` };
}
