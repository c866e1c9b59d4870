/** Collects processes that ended after their parents: whoever is process 1 has to. */
import { readdirSync, readFileSync } from 'node:fs';
import { reap, SysError } from '@heddle/sys';

/** Looks for them every so many milliseconds, until disposed of. `/proc` must be of this process's own namespace. */
export function startReaper(interval = 200): Disposable {
  const timer = setInterval(reapOrphans, interval);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function reapOrphans(): void {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const [, state, parent, , session] = statOf(entry) ?? [];
    // What Node.js starts for us is of our session; what was left behind has made one of its own.
    if (state !== 'Z' || parent !== '1' || session === '1') continue;
    try {
      reap(Number(entry));
    } catch (error) {
      if (!SysError.is(error, 'ECHILD')) throw error;
    }
  }
}

/** Name, state, parent, group, session; see proc_pid_stat(5). */
function statOf(process: string): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${process}/stat`, 'utf8');
    const end = text.lastIndexOf(')');
    return [text.slice(text.indexOf('(') + 1, end), ...text.slice(end + 2).split(' ')];
  } catch {
    // It has gone meanwhile.
    return undefined;
  }
}
