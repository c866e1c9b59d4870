import type { AgentStatus } from '@heddle/agent';
import { formatAge } from '../output/age.ts';

/**
 * The agent's figures for people.
 *
 * @param now milliseconds since the epoch
 */
export function statusText(status: AgentStatus, now: number): string {
  const { version, pid, since, calls, declined, replayed, troubles, clients, waitingDels, memory } = status;
  const rows: (readonly [string, string])[] = [
    ['agent', `version ${version}, process ${pid}, for ${formatAge(now - Date.parse(since))}`],
    ['memory', `${(memory / 1024 / 1024).toFixed(0)} MiB`],
    ['clients now', `${clients}`],
    ...Object.entries(calls).map(([command, { done, failed, milliseconds }]) => {
      const mean = (milliseconds / done).toFixed(2);
      return [command, `${done} done, ${failed} of them failed; ${mean} ms each`] as const;
    }),
    ['left to callers', `${declined}`],
    ['DELs waiting', `${waitingDels}`],
    ['DELs made up', `${replayed}`],
    ['troubles', `${troubles}`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}
