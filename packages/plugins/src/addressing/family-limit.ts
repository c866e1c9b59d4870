/** What the oldest results can hold: one address per family. */
import { atLeast, ConfigError } from '@heddle/cni';

/**
 * Refuses several addresses of one family in a version whose results have room for one.
 *
 * @param families the family of each address
 * @throws {ConfigError} with the reference's text
 */
export function checkFamilyLimit(cniVersion: string, families: readonly (4 | 6)[]): void {
  if (atLeast(cniVersion, '0.3.0') || families.length === new Set(families).size) return;
  throw new ConfigError(`CNI version ${cniVersion} does not support more than 1 address per family`, {
    pointer: '/cniVersion',
  });
}
