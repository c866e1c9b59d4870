/** One command that runs just one check again. */

/** How the kit was called. */
export interface Invocation {
  readonly program: string;
  readonly configFile?: string | undefined;
  readonly kind?: string | undefined;
  readonly daemon?: string | undefined;
}

/** A line for a shell. */
export function reproduction(id: string, { program, configFile, kind, daemon }: Invocation): string {
  const flags = [
    ['--config', configFile],
    ['--kind', kind],
    ['--daemon', daemon],
    ['--check', id],
  ] as const;
  const words = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(value)]));
  return ['heddle', 'conformance', quoted(program), ...words].join(' ');
}

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
