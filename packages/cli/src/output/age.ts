/** Spans of time as people read them. */

/**
 * A span in its largest unit that still says something: `45s`, `12m`, `30h`, `9d`.
 *
 * @param milliseconds negative ones, of clocks that were set back, read as none
 */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 2 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  return `${Math.floor(seconds / DAY)}d`;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
