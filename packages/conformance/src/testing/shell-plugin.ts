/** Small plugins in the shell for tests of the kit: correct ones, and such with one fault. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One change of a correct plugin: a text that occurs in it, and what takes its place. */
export type Fault = readonly [text: string, replacement: string];

/** A plugin in a directory of its own, for as long as it is not disposed of. */
export class ShellPlugin implements Disposable {
  readonly program: string;
  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-shell-plugin-'));

  /** @throws {RangeError} when the correct plugin does not have the text that the fault is about */
  constructor(base: 'ipam' | 'chained' | 'interface', faults: readonly Fault[] = []) {
    let text = `${read('common')}\n${read(base).replace('. claims.sh', () => read('claims'))}`;
    for (const [from, to] of faults) {
      if (!text.includes(from)) throw new RangeError(`the plugin ${base} has no ${JSON.stringify(from)}`);
      text = text.replace(from, () => to);
    }
    this.program = join(this.#directory, `shell-${base}`);
    writeFileSync(this.program, text);
    chmodSync(this.program, 0o755);
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function read(name: string): string {
  return readFileSync(new URL(`./plugins/${name}.sh`, import.meta.url), 'utf8');
}
