/** Whether somebody keeps a namespace alive. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a thread of another process is in it, or has it open. @param ino its inode */
export function isHeld(ino: number): boolean {
  const { dev } = statSync('/proc/self/ns/net');
  const isIt = (path: string): boolean => {
    try {
      const found = statSync(path);
      return found.ino === ino && found.dev === dev;
    } catch {
      return false;
    }
  };
  const processes = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid);
  return processes.some((pid) => {
    const threads = names(join('/proc', pid, 'task'));
    return (
      threads.some((thread) => isIt(join('/proc', pid, 'task', thread, 'ns/net'))) ||
      names(join('/proc', pid, 'fd')).some((fd) => isIt(join('/proc', pid, 'fd', fd)))
    );
  });
}

/** The names in a directory; none when it is gone. */
function names(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
