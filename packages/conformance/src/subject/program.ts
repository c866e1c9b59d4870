/** The file that is to be checked, looked at before anything is run. */
import { accessSync, constants, statSync } from 'node:fs';
import { KitError } from '../failure.ts';

/** @throws {KitError} for what is no file, or cannot be executed: each call would only say so in the kernel's words */
export function mustBeExecutable(program: string): void {
  const found = statSync(program, { throwIfNoEntry: false });
  if (found === undefined) throw new KitError(`there is no file ${program}`);
  if (!found.isFile())
    throw new KitError(`${program} is ${found.isDirectory() ? 'a directory' : 'no file'}, and no plugin`);
  try {
    accessSync(program, constants.X_OK);
  } catch (cause) {
    throw new KitError(`${program} is not executable`, { cause, hint: `chmod +x ${program}` });
  }
}
