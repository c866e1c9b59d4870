/** What a command of `heddle` is made of: how it is called, what it teaches, and what it does. */
import {
  type BaseArgs,
  buildCommand,
  type Command,
  type CommandContext,
  type StricliProcess,
  type TypedCommandParameters,
} from '@stricli/core';
import { reportError } from './output/report-error.ts';
import type { Surroundings } from './surroundings.ts';

/** What a command gets to work with. */
export interface Cli extends CommandContext, Surroundings {
  readonly process: StricliProcess;
}

/** The flags that every command has. */
export interface CommonFlags {
  readonly output?: Format;
  readonly debug?: boolean;
}

/** How a command prints. `wide` is a table with more columns, where there are any. */
type Format = 'text' | 'wide' | 'json';

/** A command line and what it is for. */
interface Example {
  readonly command: string;
  readonly what: string;
}

/** What a command teaches about itself. */
export interface CommandLesson {
  readonly name: string;
  /** What one wants to do with it: the heading under which help lists it. */
  readonly group:
    | 'See what is attached'
    | 'Attach and detach'
    | 'Find what is wrong'
    | 'Set up this node'
    | 'Learn';
  /** One line for the list of commands. */
  readonly brief: string;
  /** Paragraphs, for `--help` and the documentation. */
  readonly about: readonly string[];
  readonly examples: readonly Example[];
  /** Its arguments, as the usage line shows them. */
  readonly usage: string;
  /** What `-o json` prints, as TypeScript declarations; empty for nothing. */
  readonly json: string;
}

/** The declaration of a command. */
export interface CommandDefinition<FLAGS extends CommonFlags, ARGS extends BaseArgs> extends CommandLesson {
  readonly parameters: TypedCommandParameters<Omit<FLAGS, keyof CommonFlags>, ARGS, Cli>;
  /** Whether there is `-o wide`. */
  readonly hasWide?: boolean;
  /** For a command that hands its stdout to another program: failures are told on stderr only, with this exit code. */
  readonly failsWith?: number;
  /** Does it. Returns the exit code when that is not 0. */
  readonly run: (cli: Cli, flags: FLAGS, ...args: ARGS) => Promise<number | undefined>;
}

/** A command, ready to be put in the table of commands. */
export interface HeddleCommand {
  readonly lesson: CommandLesson;
  readonly command: Command<Cli>;
  /** Its stdout is another program's: failures are told on stderr only. */
  readonly failsOnStderr: boolean;
}

/**
 * Makes a command of its declaration. Whatever it throws is told by `reportError`.
 *
 * @example
 * export const hello = defineCommand<CommonFlags, [string]>({ name: 'hello', …, run: async (cli, _, who) => {…} });
 */
export function defineCommand<FLAGS extends CommonFlags, ARGS extends BaseArgs>(
  definition: CommandDefinition<FLAGS, ARGS>,
): HeddleCommand {
  const { run, parameters, hasWide = false, failsWith, ...lesson } = definition;
  const command = buildCommand<FLAGS, ARGS, Cli>({
    docs: { brief: lesson.brief },
    // The two halves of the flags are put together again; their types cannot follow.
    parameters: withCommonFlags(parameters, hasWide) as never,
    async func(flags, ...args) {
      try {
        this.process.exitCode = (await run(this, flags, ...args)) ?? 0;
      } catch (error) {
        const { output = 'text', debug = false } = flags;
        const format = failsWith === undefined ? output : 'text';
        this.process.exitCode = reportError(this, error, { format, debug, exitCode: failsWith });
      }
    },
  });
  return { lesson, command: command as unknown as Command<Cli>, failsOnStderr: failsWith !== undefined };
}

function withCommonFlags(parameters: object, hasWide: boolean): object {
  const { flags = {}, aliases = {}, ...rest } = parameters as { flags?: object; aliases?: object };
  const values: readonly Format[] = hasWide ? ['text', 'wide', 'json'] : ['text', 'json'];
  const output = { kind: 'enum', values, brief: `how to print: ${values.join(', ')}`, default: 'text' };
  const debug = {
    kind: 'boolean',
    brief: 'print the stack of a failure',
    optional: true,
    withNegated: false,
  };
  return { ...rest, flags: { ...flags, output, debug }, aliases: { ...aliases, o: 'output' } };
}
