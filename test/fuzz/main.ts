/**
 * `make fuzz`: searches for as long as it is told, one target after the other, and keeps
 * what it finds: inputs that reach code which none before them did, and those that show a fault.
 *
 *   FUZZ_MINUTES  for all targets together; 60 unless told otherwise
 *   FUZZ_TARGET   only targets whose name contains this
 *   FUZZ_SEED     repeats a search
 *   FUZZ_INPUT    executes the input of this file, in a folder named for its target, and nothing else
 */
import { basename, dirname, resolve } from 'node:path';
import { enterSandbox } from '../../scripts/sandbox.ts';
import { Overseer } from './engine/overseer.ts';

enterSandbox();

const input = process.env['FUZZ_INPUT'] === undefined ? undefined : resolve(process.env['FUZZ_INPUT']);
// Here only for their names, and later than the path above: it changes the working directory.
const { TARGETS } = await import('./targets/index.ts');

const { FUZZ_MINUTES, FUZZ_TARGET = '', FUZZ_SEED } = process.env;
using overseer = new Overseer();
process.exitCode =
  (await (input === undefined ? search() : overseer.give({ target: basename(dirname(input)), input }))) > 0
    ? 1
    : 0;

/** Returns how many faults there were. */
async function search(): Promise<number> {
  const seed = Number(FUZZ_SEED ?? Date.now() % 2 ** 31);
  const all = TARGETS.map(({ name }) => name);
  const names = all.filter((name) => name.includes(FUZZ_TARGET));
  if (names.length === 0) throw new Error(`no target has ${FUZZ_TARGET} in its name: ${all.join(', ')}`);
  const milliseconds = (Number(FUZZ_MINUTES ?? 60) * 60_000) / names.length;
  console.log(`${names.length} targets, ${(milliseconds / 1000).toFixed(0)} s each, seed ${seed}`);
  let faults = 0;
  for (const target of names) faults += await overseer.give({ target, seed, milliseconds });
  console.log(`${faults} faults`);
  return faults;
}
