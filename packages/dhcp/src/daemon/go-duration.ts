/** Durations as Go writes them: `500ms`, `1m30s`, `1.5h`. */

/**
 * The duration in milliseconds.
 *
 * @returns undefined for a text that is none
 * @example parseGoDuration('1m30s') // 90000
 */
export function parseGoDuration(text: string): number | undefined {
  const [, sign = '', body = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (body === '0') return 0;
  if (!/^(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/.test(body)) return undefined;
  let total = 0;
  let rest = body;
  while (rest !== '') {
    const [part = '', number = '', unit = ''] = /^(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/.exec(rest) ?? [];
    if (part === '') return undefined;
    total += Number(number) * (UNITS[unit] ?? 0);
    rest = rest.slice(part.length);
  }
  return sign === '-' ? -total : total;
}

/** The text of a duration in milliseconds, in whole seconds from one second on. */
export function formatGoDuration(milliseconds: number): string {
  if (milliseconds === Infinity) return 'ever';
  if (milliseconds < 1000) return `${Math.round(milliseconds)}ms`;
  const seconds = Math.round(milliseconds / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const from = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(from)
    .map(([value, unit]) => `${value}${unit}`)
    .join('');
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
