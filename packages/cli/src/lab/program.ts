import type { Cli } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';

/** How this command is started once more, from elsewhere. @throws {CommandError} when that is not known */
export function ownProgram({ places }: Pick<Cli, 'places'>): readonly string[] {
  if (places.command !== undefined) return [places.command];
  throw new CommandError(EXIT.FAILED, 'the file that runs this command cannot be found', {
    hint: 'run bin/heddle of a checkout',
  });
}
