/**
 * What a plugin says of itself. A module of its own that needs nothing else, so that a program can answer VERSION
 * before it has loaded the plugin.
 */
import { CURRENT_VERSION } from '../versions.ts';
import type { Plugin } from './definition.ts';

/**
 * The answer to VERSION, in the version that was asked with (specification 1.1.0, section 5, "VERSION Success").
 *
 * @param question what came on stdin; in the newest version where that does not say one
 */
export function versionJson({ versions }: Pick<Plugin, 'versions'>, question = ''): string {
  const [, cniVersion = CURRENT_VERSION] = /"cniVersion"\s*:\s*"([\d.]{1,32})"/.exec(question) ?? [];
  return JSON.stringify({ cniVersion, supportedVersions: versions });
}

/** What a plugin says of itself when it is started by hand, on stderr. */
export function aboutText({ type, about, versions }: Pick<Plugin, 'type' | 'about' | 'versions'>): string {
  return `CNI ${type} plugin (Heddle): ${about}\nCNI protocol versions supported: ${versions.join(', ')}\n`;
}
