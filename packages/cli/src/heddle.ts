/** The command as a function: arguments and surroundings in, an exit code out. */
import {
  ArgumentScannerError,
  buildApplication,
  buildRouteMap,
  formatMessageForArgumentScannerError,
  run,
  text_en,
} from '@stricli/core';
import type { Cli, HeddleCommand } from './command.ts';
import { asksForJson, inOrder } from './command-line.ts';
import { agentCommand } from './commands/agent.ts';
import { isDaemonLine, keepLeases } from './commands/dhcp.ts';
import { EXIT } from './exit-codes.ts';
import { commandHelp, overviewHelp } from './help.ts';
import { CommandError, errorText, failureJson } from './output/report-error.ts';
import type { Surroundings } from './surroundings.ts';
import { HEDDLE_VERSION } from './version.ts';

/**
 * Runs one command line.
 *
 * @param args without the program's own name
 * @returns the exit code; see `EXIT`
 * @example process.exitCode = await heddle(['ls', '-o', 'json'], surroundings);
 */
export async function heddle(args: readonly string[], surroundings: Surroundings): Promise<number> {
  if (isDaemonLine(args)) return keepLeases(args, surroundings);
  const line = inOrder(args);
  const { stdout, stderr, env } = surroundings;
  const process: Cli['process'] = { stdout, stderr, env };
  const cli: Cli = { ...surroundings, process };
  const commands = await commandsFor(line);
  const named = commands.find(({ lesson }) => lesson.name === line[0]);
  const problems: CommandError[] = [];
  await run(applicationFor(commands, named, surroundings, problems), line, cli);
  const exitCode = Number(process.exitCode ?? 0);
  // The framework's own codes are negative, and all mean that the command line was not understood.
  if (exitCode >= 0) return exitCode;
  const [problem] = problems;
  if (problem !== undefined && asksForJson(line) && named?.failsOnStderr !== true) {
    stdout.write(failureJson(problem));
  }
  return EXIT.USAGE;
}

/** The agent stays, and would hold for good what the other commands are made of. */
async function commandsFor([name]: readonly string[]): Promise<readonly HeddleCommand[]> {
  if (name === agentCommand.lesson.name) return [agentCommand];
  return (await import('./commands/index.ts')).COMMANDS;
}

/** @param problems gets what is wrong with the command line; the framework tells it on stderr */
function applicationFor(
  commands: readonly HeddleCommand[],
  named: HeddleCommand | undefined,
  { stdout }: Surroundings,
  problems: CommandError[],
) {
  const usage = (message: string) => {
    const hint = `heddle ${named === undefined ? '' : `${named.lesson.name} `}--help shows how`;
    const problem = new CommandError(EXIT.USAGE, message, { hint });
    problems.push(problem);
    return errorText(problem).trimEnd();
  };
  const routes = Object.fromEntries(commands.map(({ lesson, command }) => [lesson.name, command]));
  const layout = { width: stdout.columns ?? WIDTH, styled: stdout.isStyled };
  const helped = (path: readonly string[]) => commands.find(({ lesson }) => lesson.name === path[1]);
  return buildApplication<Cli>(
    buildRouteMap({ routes, docs: { brief: 'container networking for this node' } }),
    {
      name: 'heddle',
      scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
      documentation: { disableAnsiColor: true },
      localization: {
        text: {
          ...text_en,
          exceptionWhileParsingArguments: (error) => usage(argumentProblem(error)),
          noCommandRegisteredForInput: ({ input, corrections }) =>
            usage(
              `there is no command "${input}"${corrections.length > 0 ? `; did you mean ${corrections.join(' or ')}?` : ''}`,
            ),
        },
      },
    },
    {
      help: {
        flag: {
          brief: 'explain a command',
          aliases: ['h'],
          global: true,
          defaultForRouteMap: true,
          run(_application, { result: { prefix } }) {
            const command = helped(prefix);
            stdout.write(
              command === undefined ? overviewHelp(commands, layout) : commandHelp(command, layout),
            );
          },
        },
      },
      version: {
        flag: { brief: 'show the version', aliases: ['v'], run: () => stdout.write(`${HEDDLE_VERSION}\n`) },
      },
    },
  );
}

/** For what is no terminal. */
const WIDTH = 100;

function argumentProblem(error: unknown): string {
  if (!(error instanceof ArgumentScannerError)) return error instanceof Error ? error.message : String(error);
  const text = formatMessageForArgumentScannerError(error, {});
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}
