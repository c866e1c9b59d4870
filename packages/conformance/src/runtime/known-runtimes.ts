/** Runtimes that the kit can call by itself: by their own command, or by a script that translates. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Profile, parseProfile } from '../profile.ts';
import { quoted } from '../report/reproduce.ts';

/** How one is called. */
export interface KnownRuntime {
  /** As {@link RuntimeConformanceOptions.template}. */
  readonly template: string;
  /** What it does not claim: what it cannot be asked for, each with the reason. */
  readonly profile: Profile;
  /** As {@link RuntimeConformanceOptions.cleans}. */
  readonly cleans: boolean;
}

/** Their names. */
export const KNOWN_RUNTIMES = ['heddle', 'cnitool', 'podman', 'containerd'] as const;

/**
 * The runtime of that name; `undefined` for any other command.
 *
 * @param known ids of checks
 */
export function knownRuntime(name: string, known: readonly string[]): KnownRuntime | undefined {
  if (!(KNOWN_RUNTIMES as readonly string[]).includes(name)) return undefined;
  const profile = file(`${name}.json`);
  const own = TEMPLATES[name];
  return {
    template: own ?? `${quoted(file(`${name}.sh`))} {verb} {network} {netns} {ifname}`,
    cleans: own === undefined,
    profile: parseProfile(readFileSync(profile, 'utf8'), profile, known),
  };
}

const TEMPLATES: Readonly<Record<string, string>> = {
  heddle: 'heddle {verb} {network} {netns}',
  cnitool: 'cnitool {verb} {network} {netns}',
};

function file(name: string): string {
  return fileURLToPath(new URL(`../../runtimes/${name}`, import.meta.url));
}
