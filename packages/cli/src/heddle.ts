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
import { COMMANDS } from './commands/index.ts';
import { EXIT } from './exit-codes.ts';
import { errorText } from './output/report-error.ts';
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
  const { stdout, stderr, env } = surroundings;
  const process: Cli['process'] = { stdout, stderr, env };
  const cli: Cli = { ...surroundings, process };
  await run(applicationFor(args), askedForHelp(args), cli);
  const exitCode = Number(process.exitCode ?? 0);
  // The framework's own codes are negative, and all mean that the command line was not understood.
  return exitCode < 0 ? EXIT.USAGE : exitCode;
}

/** `help add` is `add --help`. */
function askedForHelp(args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  return first === 'help' ? [...rest, '--help'] : args;
}

function applicationFor(args: readonly string[]) {
  const named = COMMANDS.find(({ lesson }) => lesson.name === args[0]);
  const moreHelp = `heddle ${named === undefined ? '' : `${named.lesson.name} `}--help`;
  const usage = (message: string) => errorText(`${message}\n  hint: ${moreHelp} shows how`).trimEnd();
  const routes = Object.fromEntries(COMMANDS.map(({ lesson, command }) => [lesson.name, command]));
  const root = buildRouteMap({
    routes,
    docs: { brief: 'container networking for this node', fullDescription: overview(COMMANDS) },
  });
  return buildApplication(root, {
    name: 'heddle',
    versionInfo: { currentVersion: HEDDLE_VERSION },
    scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
    documentation: { disableAnsiColor: true },
    localization: {
      text: {
        ...text_en,
        exceptionWhileParsingArguments: (error) =>
          usage(
            error instanceof ArgumentScannerError
              ? lowerFirst(formatMessageForArgumentScannerError(error, {}))
              : String(error),
          ),
        noCommandRegisteredForInput: ({ input, corrections }) =>
          usage(
            `there is no command "${input}"${corrections.length > 0 ? `; did you mean ${corrections.join(' or ')}?` : ''}`,
          ),
      },
    },
  });
}

function overview(commands: readonly HeddleCommand[]): string {
  return [
    'Heddle attaches containers to networks, by the Container Network Interface (CNI): it runs the plugins that a',
    'configuration in /etc/cni/net.d names, shows what is attached, and installs its own plugins.',
    '',
    'EXAMPLES',
    ...commands.flatMap(
      ({
        lesson: {
          examples: [first],
        },
      }) => (first === undefined ? [] : [`  ${first.command}\n      ${first.what}`]),
    ),
  ].join('\n');
}

function lowerFirst(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}
