/** The file that is to be checked, looked at before anything is run. */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
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
  // Such a file a shell would take for a script, and so does what starts programs here; execve(2), and with it a runtime, does not.
  const head = headOf(program);
  if (!head.startsWith('#!') && !head.includes('\0')) {
    throw new KitError(`${program} is no program to the kernel, and a runtime cannot execute it`, {
      hint: 'begin a script with its interpreter, such as #!/bin/sh',
    });
  }
}

function headOf(program: string): string {
  const file = openSync(program, 'r');
  try {
    const bytes = Buffer.alloc(512);
    return bytes.toString('latin1', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
