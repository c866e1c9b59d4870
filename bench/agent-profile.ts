/** Profiles of sites' agents, while they serve. See `profile-preload.ts`. */
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Site } from '@heddle/bench';

/** What is to be found out: where the processor's time goes, or what is allocated. */
export type ProfileKind = 'cpu' | 'heap';

/** What makes an agent take a profile when it is told to: an option of Node.js, and a variable. */
export function profiling(kind: ProfileKind): {
  readonly option: string;
  readonly env: Record<string, string>;
} {
  return { option: `--import=${resolve('bench/profile-preload.ts')}`, env: { PROFILE: kind } };
}

/** Has all begin. */
export async function beginProfiles(sites: readonly Site[]): Promise<void> {
  for (const { node } of sites) writeFileSync(join(node.root, 'run/profile'), '');
  await pause(500);
}

/** Has all end, and keeps what they have: one file for each site, which is told. */
export async function endProfiles(sites: ReadonlyMap<string, Site>, kind: ProfileKind): Promise<void> {
  for (const [name, { node }] of sites) {
    rmSync(join(node.root, 'run/profile'));
    const written = join(node.root, 'run/profile.json');
    while (!existsSync(written)) await pause(100);
    await pause(500);
    const kept = `build/bench/${name}.${kind}profile`;
    copyFileSync(written, kept);
    console.log(`profile of the second half: ${kept}`);
  }
}
