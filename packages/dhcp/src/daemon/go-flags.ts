/**
 * Flags as Go's `flag` package takes them, for programs that are called by units written for a Go program: one dash
 * or two, `-x=v` or `-x v`, booleans without a value; the first word that is no flag ends them.
 */
import { DhcpError } from '../dhcp-error.ts';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

/** One flag. */
type GoFlag = { readonly usage: string } & (
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** In milliseconds. */
  | { readonly kind: 'duration'; readonly value: number }
);

/** The flags of a program by name, with their defaults. */
export type GoFlags = Readonly<Record<string, GoFlag>>;

/** The values of flags. */
export type GoFlagValues<F extends GoFlags> = {
  readonly [K in keyof F]: F[K]['kind'] extends 'string'
    ? string
    : F[K]['kind'] extends 'boolean'
      ? boolean
      : number;
};

/** Help was asked for. */
export class HelpRequested extends DhcpError {
  constructor() {
    super('DHCP_USAGE', 'flag: help requested');
  }
}

/**
 * Reads flags.
 *
 * @throws {HelpRequested} for `-h` and `-help`; {DhcpError} DHCP_USAGE in Go's words
 * @example parseGoFlags({ timeout: { kind: 'duration', value: 10_000, usage: '…' } }, ['-timeout', '2s']).timeout // 2000
 */
export function parseGoFlags<const F extends GoFlags>(flags: F, args: readonly string[]): GoFlagValues<F> {
  const values: Record<string, string | boolean | number> = Object.fromEntries(
    Object.entries(flags).map(([name, { value }]) => [name, value]),
  );
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (!/^-./.test(word) || word === '--') break;
    const [, name = '', given] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === '' || name.startsWith('-')) throw usage(`bad flag syntax: ${word}`);
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (flag === undefined) {
      if (name === 'h' || name === 'help') throw new HelpRequested();
      throw usage(`flag provided but not defined: -${name}`);
    }
    const text = given ?? (flag.kind === 'boolean' ? 'true' : args[++at]);
    if (text === undefined) throw usage(`flag needs an argument: -${name}`);
    values[name] = readValue(flag, name, text);
  }
  return values as GoFlagValues<F>;
}

/** The help text. */
export function describeGoFlags(program: string, flags: GoFlags): string {
  const lines = Object.entries(flags).flatMap(([name, { kind, value, usage: about }]) => {
    const isDefault = value === '' || value === false;
    const shown = typeof value === 'number' ? formatGoDuration(value) : JSON.stringify(value);
    const type = kind === 'boolean' ? '' : ` ${kind}`;
    return [`  -${name}${type}`, `    \t${about}${isDefault ? '' : ` (default ${shown})`}`];
  });
  return `Usage of ${program}:\n${lines.join('\n')}\n`;
}

function readValue(flag: GoFlag, name: string, text: string): string | boolean | number {
  if (flag.kind === 'string') return text;
  const value = flag.kind === 'boolean' ? BOOLEANS[text] : parseGoDuration(text);
  if (value !== undefined) return value;
  throw usage(
    `invalid ${flag.kind === 'boolean' ? 'boolean ' : ''}value ${JSON.stringify(text)} for ${
      flag.kind === 'boolean' ? '' : 'flag '
    }-${name}: parse error`,
  );
}

/** What Go's strconv.ParseBool takes. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false])),
};

function usage(message: string): DhcpError {
  return new DhcpError('DHCP_USAGE', message);
}
