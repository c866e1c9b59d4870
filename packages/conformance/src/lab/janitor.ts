/**
 * Who comes after the kit: a shell that waits for the kit's end, be it by SIGKILL, and then ends all that was started in the
 * kit's mounts, also what has put itself into a session of its own.
 */
import { spawn } from 'node:child_process';

/** See the file's comment. Its work begins when it is disposed of, or with the end of this process. */
export class Janitor implements Disposable {
  readonly #door: { destroy(): unknown } | null | undefined;

  /** From within the mounts that are to be left without a process. */
  constructor() {
    const shell = spawn('/bin/sh', ['-c', ENDS_ALL, 'janitor', String(process.pid)], {
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    });
    const [, , , door] = shell.stdio;
    this.#door = door;
    shell.unref();
    // A pipe that nobody writes to must not keep this process alive.
    if (door !== null && door !== undefined && 'unref' in door && typeof door.unref === 'function')
      door.unref();
  }

  [Symbol.dispose](): void {
    this.#door?.destroy();
  }
}

/** Its first argument is the process of the kit, which may live on. What starts others meanwhile is met in a later round. */
const ENDS_ALL = `
read -r _ <&3
mounts=$(readlink /proc/$$/ns/mnt)
for round in 1 2 3; do
  for each in /proc/[0-9]*; do
    pid=\${each#/proc/}
    [ "$pid" != $$ ] && [ "$pid" != "$1" ] && [ "$(readlink "$each/ns/mnt")" = "$mounts" ] && kill -s KILL "$pid"
  done
done`;
