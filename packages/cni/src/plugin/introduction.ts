/**
 * What a plugin says of itself. A module of its own that needs nothing else, so that a program can answer VERSION
 * before it has loaded the plugin.
 */
import { CURRENT_VERSION } from '../versions.ts';
import type { Plugin } from './definition.ts';

/** The answer to VERSION. */
export function versionJson({ versions }: Pick<Plugin, 'versions'>): string {
  return JSON.stringify({ cniVersion: CURRENT_VERSION, supportedVersions: versions });
}

/** What a plugin says of itself when it is started by hand, on stderr. */
export function aboutText({ type, about, versions }: Pick<Plugin, 'type' | 'about' | 'versions'>): string {
  return `CNI ${type} plugin (Heddle): ${about}\nCNI protocol versions supported: ${versions.join(', ')}\n`;
}
