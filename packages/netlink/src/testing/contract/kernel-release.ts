import { release } from 'node:os';

/** The oldest kernel that the fake one is like. Older ones say some things in other words. */
const OLDEST = [6, 12] as const;

/** Why this machine's kernel is not compared with the fake one; `undefined` when it is. */
export function reasonToSkip(): string | undefined {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `the fake kernel is like Linux ${OLDEST.join('.')} and later, this is ${release()}`;
}
