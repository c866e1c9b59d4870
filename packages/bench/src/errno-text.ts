import { getSystemErrorName } from 'node:util';

/** The name of a system error, such as `ENOENT`. */
export function errnoText(errno: number): string {
  return getSystemErrorName(-errno);
}
