/** Where the container runtimes of this node are configured to look for plugins and networks. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { PluginReader } from '@heddle/doctor';

/** Where things are being installed. */
export interface InstalledTo {
  readonly pluginDir: string;
  /** Missing when no network is installed. */
  readonly configDir?: string;
}

/**
 * For each setting of these files that leads a runtime past what is installed: the file, the line, and what it
 * should say.
 *
 * @param paths TOML files of containerd (`config.toml`), of CRI-O (`crio.conf`), of Podman and its relatives
 *   (`containers.conf`), and directories of such; those that cannot be read are passed over
 */
export function otherDirectories(paths: readonly string[], to: InstalledTo): readonly string[] {
  return configsAt(paths).flatMap(({ path, text }) => settingsIn(text, to).map((note) => `${path}:${note}`));
}

/** The settings that matter, and the directory that each must name. */
const SETTINGS: readonly (readonly [name: string, which: keyof InstalledTo])[] = [
  ['bin_dir', 'pluginDir'],
  ['bin_dirs', 'pluginDir'],
  ['plugin_dirs', 'pluginDir'],
  ['cni_plugin_dirs', 'pluginDir'],
  ['conf_dir', 'configDir'],
  ['network_dir', 'configDir'],
  ['network_config_dir', 'configDir'],
];

function settingsIn(text: string, to: InstalledTo): readonly string[] {
  return SETTINGS.flatMap(([name, which]) => {
    const right = to[which];
    const found = settingOf(text, name);
    if (found === undefined || right === undefined) return [];
    if (found.named.map(trimmed).includes(trimmed(right))) return [];
    const wanted = found.isList ? `["${right}"]` : `"${right}"`;
    return [`${found.line}: ${name} leads elsewhere, to ${found.named.join(', ')}; make it ${wanted}`];
  });
}

/** The directories of plugins that these files name, whichever runtime's they are. */
export function namedPluginDirectories(paths: readonly string[]): readonly string[] {
  return configsAt(paths).flatMap(({ text }) =>
    SETTINGS.flatMap(([name, which]) => (which === 'pluginDir' ? (settingOf(text, name)?.named ?? []) : [])),
  );
}

/** What a runtime's own configuration says of where it looks. */
export type ConfiguredDirectories = Omit<PluginReader, 'runtime'>;

/**
 * Where the containerd that serves pods looks for plugins; nothing where there is none, or its configuration does not
 * tell.
 *
 * @param usual where it looks when it is not told otherwise
 */
export function containerdDirectories(
  paths: readonly string[],
  usual: string,
): ConfiguredDirectories | undefined {
  const config = configsAt(paths).find(({ path }) => basename(path) === 'config.toml');
  // Docker's containerd serves no pods.
  if (config === undefined || /^[ \t]*disabled_plugins[ \t]*=[^\]]*\bcri\b/m.test(config.text)) {
    return undefined;
  }
  const { path, text } = config;
  const setting = `bin_dir in ${path}`;
  const named = ['bin_dirs', 'bin_dir'].flatMap((name) => settingOf(text, name)?.named ?? []);
  if (named.length > 0) return { directories: named, setting };
  // What is imported may name another.
  if (/^[ \t]*imports[ \t]*=[ \t]*\[[^\]]*["']/m.test(text)) return undefined;
  return { directories: [usual], setting };
}

/**
 * Where CRI-O looks for plugins; nothing where there is no configuration of it.
 *
 * @param usual where it looks when it is not told otherwise
 */
export function crioDirectories(paths: readonly string[], usual: string): ConfiguredDirectories | undefined {
  const configs = configsAt(paths).filter(({ path }) => path.includes('/crio.conf'));
  return lastNamed(configs, 'plugin_dirs') ?? inDefault(configs[0], 'plugin_dirs', usual);
}

/** Where Podman and its relatives look for plugins; nothing where they are not told. */
export function podmanDirectories(paths: readonly string[]): ConfiguredDirectories | undefined {
  return lastNamed(configsAt(paths), 'cni_plugin_dirs');
}

interface Config {
  readonly path: string;
  readonly text: string;
}

/** Of files that are read one after the other, the last that has a setting counts. */
function lastNamed(configs: readonly Config[], name: string): ConfiguredDirectories | undefined {
  return configs
    .flatMap(({ path, text }) => {
      const directories = settingOf(text, name)?.named.map(trimmed);
      return directories === undefined ? [] : [{ directories, setting: `${name} in ${path}` }];
    })
    .at(-1);
}

function inDefault(
  config: Config | undefined,
  name: string,
  usual: string,
): ConfiguredDirectories | undefined {
  return config && { directories: [usual], setting: `${name} in ${config.path}` };
}

interface Setting {
  readonly line: number;
  readonly isList: boolean;
  readonly named: readonly string[];
}

/** A setting of a TOML file that names directories. */
function settingOf(text: string, name: string): Setting | undefined {
  const setting = new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*(\\[[^\\]]*\\]|"[^"\\n]*"|'[^'\\n]*')`, 'm');
  const found = setting.exec(text);
  const value = found?.[1] ?? '';
  const named = [...value.matchAll(/"([^"]*)"|'([^']*)'/g)].map(
    ([, double, single]) => double ?? single ?? '',
  );
  // An empty text stands for the runtime's default.
  if (found === null || named.join('') === '') return undefined;
  return { line: text.slice(0, found.index).split('\n').length, isList: value.startsWith('['), named };
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, '');
}

/** The files at these paths, and those in the directories among them, in the order in which runtimes read them. */
function configsAt(paths: readonly string[]): readonly Config[] {
  return paths
    .flatMap((path) => (path.endsWith('.d') ? filesIn(path) : [path]))
    .flatMap((path) => {
      const text = orUndefined(() => readFileSync(path, 'utf8'));
      return text === undefined ? [] : [{ path, text }];
    });
}

function filesIn(directory: string): readonly string[] {
  const names = orUndefined(() => readdirSync(directory)) ?? [];
  return names
    .filter((name) => name.endsWith('.conf'))
    .toSorted()
    .map((name) => join(directory, name));
}

function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
