/** The end of a call: its outcome is printed, and with it the process is over. */
import { basename } from 'node:path';
import type { PluginOutcome } from '@heddle/cni/plugin';
import { writeBestEffort, writeWhole } from './descriptors.ts';

/** Prints the outcome and ends the process. */
export function end({ exitCode, stdout, stderr }: PluginOutcome): never {
  writeBestEffort(2, stderr);
  process.exit(answered(stdout) ? exitCode : 1);
}

/** False when the answer cannot be printed: the caller must not take its absence for one. */
function answered(stdout: string): boolean {
  try {
    writeWhole(1, stdout);
    return true;
  } catch (error) {
    writeBestEffort(2, `${basename(process.argv0)}: cannot print the answer: ${String(error)}\n`);
    return false;
  }
}
