/** One command that runs just one check again. */

/** How the kit was called. */
export interface Invocation {
  /** A plugin's file. */
  readonly program?: string | undefined;
  /** The command that calls a runtime. */
  readonly runtime?: string | undefined;
  readonly configFile?: string | undefined;
  readonly kind?: string | undefined;
  readonly daemon?: string | undefined;
  readonly ready?: string | undefined;
  /** At how many calls of each command plugins were killed, as in `ConformanceOptions`. */
  readonly crashPoints?: number | undefined;
}

/** A line for a shell. */
export function reproduction(
  id: string,
  { program, runtime, configFile, kind, daemon, ready, crashPoints }: Invocation,
): string {
  const flags = [
    ['--runtime', runtime],
    ['--config', configFile],
    ['--kind', kind],
    ['--daemon', daemon],
    ['--ready', ready],
    ['--crash', crashPoints === Number.POSITIVE_INFINITY ? 'all' : crashPoints?.toString()],
    ['--check', id],
  ] as const;
  const words = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(value)]));
  return ['heddle', 'conformance', ...(program === undefined ? [] : [quoted(program)]), ...words].join(' ');
}

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
