/**
 * Versions of the specification: which exist, how they compare, how a list negotiates one.
 * The grammar is the reference implementation's: one to three decimal numbers with dots; the empty text is
 * 0.1.0, because the first version had no `cniVersion` at all.
 */
import { DecodeError } from './errors.ts';

/** All versions of the specification, oldest first. */
export const CNI_VERSIONS = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;

/** A released version of the specification. */
export type CniVersion = (typeof CNI_VERSIONS)[number];

/** The version that this implementation follows. */
export const CURRENT_VERSION: CniVersion = '1.1.0';

/** True for a released version, written exactly so. */
export function isCniVersion(text: string): text is CniVersion {
  return (CNI_VERSIONS as readonly string[]).includes(text);
}

/**
 * The numbers of a version.
 *
 * @throws {DecodeError} for more than three parts, or a part that is not a number.
 * @example parseVersion('1.1') // [1, 1, 0]
 */
export function parseVersion(text: string): readonly [major: number, minor: number, micro: number] {
  if (text === '') return [0, 1, 0];
  const parts = text.split('.');
  if (parts.length > 3) throw invalidVersion(text, 'more than three parts');
  const [major = 0, minor = 0, micro = 0] = parts.map((part) => {
    if (!/^[+-]?\d+$/.test(part)) throw invalidVersion(text, `"${part}" is not a number`);
    return Number(part);
  });
  return [major, minor, micro];
}

/** Negative, zero or positive as `a` is older than, the same as or newer than `b`. */
export function compareVersions(a: string, b: string): number {
  const left = parseVersion(a);
  const right = parseVersion(b);
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

/** True when `version` is `minimum` or newer. */
export function atLeast(version: string, minimum: CniVersion): boolean {
  return compareVersions(version, minimum) >= 0;
}

/** The released versions from `minimum` on, oldest first. */
export function versionsFrom(minimum: CniVersion): readonly CniVersion[] {
  return CNI_VERSIONS.slice(CNI_VERSIONS.indexOf(minimum));
}

/**
 * The version in force for a list that offers several: the newest of `cniVersions` and `cniVersion` that
 * this implementation knows. When none is left, `cniVersion` stays as it is written.
 *
 * @throws {DecodeError} when an entry is no version.
 * @example negotiate(['1.0.0', '9.9.9'], '0.4.0') // '1.0.0'
 */
export function negotiate(cniVersions: readonly string[], cniVersion: string): string {
  const offered = cniVersion === '' ? cniVersions : [...cniVersions, cniVersion];
  return (
    offered
      .filter((version) => compareVersions(version, CURRENT_VERSION) <= 0)
      .reduce((best, version) => (best === '' || compareVersions(version, best) >= 0 ? version : best), '') ||
    cniVersion
  );
}

function invalidVersion(text: string, why: string): DecodeError {
  return new DecodeError(`invalid version "${text}": ${why}`, { code: 'VERSION_INVALID' });
}
