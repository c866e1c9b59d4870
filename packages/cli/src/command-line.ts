/** Command lines before the framework reads them: people write some things in another order than it wants. */

/**
 * A command line in the order of the framework: `-o json ls` becomes `ls -o json`, and `help add` becomes
 * `add --help`.
 *
 * @param args without the program's own name
 */
export function inOrder(args: readonly string[]): readonly string[] {
  return helpAsFlag(commandFirst(args));
}

/** Whether a command line asks for JSON, also one that the framework does not understand. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  return own.some(
    (arg, index) =>
      arg === '--output=json' || (arg === 'json' && ['-o', '--output'].includes(own[index - 1] ?? '')),
  );
}

function commandFirst(args: readonly string[]): readonly string[] {
  const at = commonFlagsOf(args);
  const command = args[at];
  if (at === 0 || command === undefined || command.startsWith('-')) return args;
  return [command, ...args.slice(0, at), ...args.slice(at + 1)];
}

/** How many of the first arguments are flags that every command has, with their values. */
function commonFlagsOf(args: readonly string[]): number {
  let count = 0;
  for (;;) {
    const arg = args[count] ?? '';
    if (arg === '-o' || arg === '--output') count += 2;
    else if (arg === '--debug' || arg.startsWith('--output=')) count += 1;
    else return count;
  }
}

function helpAsFlag(args: readonly string[]): readonly string[] {
  const [first, topic, ...rest] = args;
  if (first !== 'help' || topic?.startsWith('-')) return args;
  return topic === undefined ? ['--help'] : [topic, ...rest, '--help'];
}
