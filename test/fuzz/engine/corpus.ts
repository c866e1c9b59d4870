/** The inputs that are kept in the repository: one file each, in a folder for each target. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where they are. */
export const CORPUS = fileURLToPath(new URL('../corpus/', import.meta.url));

/** What begins the names of inputs that once showed a fault: these are kept whatever else covers the same code. */
export const FAULT = 'fault-';

/** An input with its file's name. */
export interface StoredInput {
  readonly name: string;
  readonly input: Uint8Array;
}

/** The inputs that are kept for a target, in the order of their names. */
export function storedInputs(target: string, root = CORPUS): readonly StoredInput[] {
  const folder = join(root, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, input: new Uint8Array(readFileSync(join(folder, name))) }));
}

/** Keeps an input under the name of its content. Returns the file's path. */
export function storeInput(target: string, input: Uint8Array, root = CORPUS, prefix = ''): string {
  const folder = join(root, target);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${prefix}${createHash('sha256').update(input).digest('hex').slice(0, 10)}`);
  writeFileSync(path, input);
  return path;
}

/** Puts these inputs in the place of what is kept for a target, but for those that showed a fault. */
export function replaceStored(target: string, inputs: readonly Uint8Array[], root = CORPUS): void {
  for (const { name } of storedInputs(target, root)) {
    if (!name.startsWith(FAULT)) rmSync(join(root, target, name));
  }
  for (const input of inputs) storeInput(target, input, root);
}
