/** Results as they are asked for. */
import type { Cli, CommonFlags } from '../command.ts';

/**
 * Prints `json` when that was asked for, else what `text` makes. Text that is empty prints nothing.
 *
 * @param text is told whether a terminal shows it
 */
export function emit(
  { stdout }: Pick<Cli, 'stdout'>,
  { output = 'text' }: CommonFlags,
  json: () => unknown,
  text: (styled: boolean) => string = () => '',
): void {
  stdout.write(output === 'json' ? `${JSON.stringify(json(), null, 2)}\n` : text(stdout.isStyled));
}
