/** This machine, as the doctor looks at it. */
import { setTimeout } from 'node:timers/promises';
import { systemExec } from '@heddle/cni/runtime';
import { type NodePorts, systemFiles, systemMachine } from '@heddle/doctor';
import { configDir } from '../request/environment.ts';
import { pluginDirectories, pluginReaders } from '../request/plugin-directories.ts';
import type { Surroundings } from '../surroundings.ts';

/** @param cacheDir the runtime's cache, where it is not the usual one */
export function nodePorts(surroundings: Surroundings, cacheDir: string | undefined): NodePorts {
  const { env, places, now, randomBytes } = surroundings;
  return {
    ...{ env, now, randomBytes, files: systemFiles, machine: systemMachine, exec: systemExec() },
    places: {
      configDir: configDir(surroundings),
      pluginPath: pluginDirectories(surroundings),
      pluginReaders: pluginReaders(surroundings),
      cacheDir: cacheDir ?? places.cacheDir,
      reservationDir: places.reservationDir,
      markDir: places.markDir,
    },
    sleep: (milliseconds) => setTimeout(milliseconds),
  };
}
