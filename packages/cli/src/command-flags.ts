/** The flags of a command in words, for help and for the documentation. */
import type { HeddleCommand } from './command.ts';

/** One flag. */
export interface FlagText {
  /** As it is written: `-o, --output format`. */
  readonly spelling: string;
  readonly meaning: string;
}

/** The flags of a command, its own first. */
export function flagsOf({ command }: HeddleCommand): readonly FlagText[] {
  const { flags = {}, aliases = {} } = command.parameters;
  return Object.entries(flags).map(([name, flag]) => {
    const alias = Object.entries(aliases).find(([, long]) => long === name)?.[0];
    const isOn = flag.kind === 'boolean' && flag.default === true;
    const value = flag.kind === 'boolean' ? '' : ` ${flag.placeholder ?? 'format'}`;
    const spelling = `${alias === undefined ? '' : `-${alias}, `}--${isOn ? 'no-' : ''}${kebab(name)}${value}`;
    return { spelling, meaning: flag.brief };
  });
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
