/** PATH for as long as it lives: which iptables this process finds, and whether it runs it. */
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** See the file's comment. */
export class ProgramPath implements Disposable {
  /** Where Debian has the legacy kind. */
  static readonly LEGACY = '/usr/sbin/xtables-legacy-multi';
  /** Why a test is skipped; `false` where the legacy kind is installed. */
  static readonly NO_LEGACY: string | false = existsSync(ProgramPath.LEGACY)
    ? false
    : 'not installed: the legacy kind of iptables';

  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-path-'));
  readonly #before = process.env['PATH'];

  private constructor() {}

  /** The names of iptables mean its legacy kind. */
  static legacy(): ProgramPath {
    const path = new ProgramPath();
    path.#link(ProgramPath.LEGACY);
    process.env['PATH'] = `${path.#directory}:${path.#before}`;
    return path;
  }

  /** The names of iptables mean its kind `nft`, which fails, and notes that it was run; there is nothing else. */
  static unused(): ProgramPath {
    const path = new ProgramPath();
    const program = join(path.#directory, 'xtables-nft-multi');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >>'${path.#log}'\nexit 1\n`);
    chmodSync(program, 0o755);
    path.#link(program);
    process.env['PATH'] = path.#directory;
    return path;
  }

  /** The names of iptables mean a script, as of a distribution of its own, that runs the kind `nft`. */
  static wrapper(): ProgramPath {
    const path = new ProgramPath();
    const script = join(path.#directory, 'wrapper');
    writeFileSync(script, '#!/bin/sh\nexec /usr/sbin/xtables-nft-multi "$(/usr/bin/basename "$0")" "$@"\n');
    chmodSync(script, 0o755);
    path.#link(script);
    process.env['PATH'] = path.#directory;
    return path;
  }

  /** There are no programs. */
  static empty(): ProgramPath {
    const path = new ProgramPath();
    process.env['PATH'] = path.#directory;
    return path;
  }

  /** Whether a program of {@link unused} was run. */
  get wasUsed(): boolean {
    return existsSync(this.#log);
  }

  [Symbol.dispose](): void {
    process.env['PATH'] = this.#before;
    rmSync(this.#directory, { recursive: true });
  }

  get #log(): string {
    return join(this.#directory, 'log');
  }

  #link(program: string): void {
    for (const family of ['iptables', 'ip6tables']) {
      for (const suffix of ['', '-save', '-restore'])
        symlinkSync(program, join(this.#directory, family + suffix));
    }
  }
}
