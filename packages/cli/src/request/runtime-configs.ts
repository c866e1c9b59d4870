/** Container runtimes of this node that look for plugins or networks elsewhere than where they are installed. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

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
 * @param files TOML files of containerd (`config.toml`) and of Podman and its relatives (`containers.conf`); those
 *   that cannot be read are passed over
 */
export function otherDirectories(files: readonly string[], to: InstalledTo): readonly string[] {
  return files.flatMap((path) => {
    const text = readIfThere(path);
    return text === undefined ? [] : settingsIn(text, to).map((note) => `${path}:${note}`);
  });
}

/** The settings that matter, and the directory that each must name. */
const SETTINGS: readonly (readonly [name: string, which: keyof InstalledTo])[] = [
  ['bin_dir', 'pluginDir'],
  ['bin_dirs', 'pluginDir'],
  ['cni_plugin_dirs', 'pluginDir'],
  ['conf_dir', 'configDir'],
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

/** The directories of plugins that these files name; those that cannot be read are passed over. */
export function namedPluginDirectories(files: readonly string[]): readonly string[] {
  return files.flatMap((path) => {
    const text = readIfThere(path) ?? '';
    return SETTINGS.flatMap(([name, which]) =>
      which === 'pluginDir' ? (settingOf(text, name)?.named ?? []) : [],
    );
  });
}

/**
 * Where the containerd with this configuration looks for plugins; nothing for a file that is no such configuration, or
 * does not tell.
 *
 * @param usual where it looks when it is not told otherwise
 */
export function containerdPluginDirectories(file: string, usual: string): readonly string[] | undefined {
  const text = basename(file) === 'config.toml' ? readIfThere(file) : undefined;
  // Docker's containerd serves no pods.
  if (text === undefined || /^[ \t]*disabled_plugins[ \t]*=[^\]]*\bcri\b/m.test(text)) return undefined;
  const named = ['bin_dirs', 'bin_dir'].flatMap((name) => settingOf(text, name)?.named ?? []);
  if (named.length > 0) return named;
  // What is imported may name another.
  return /^[ \t]*imports[ \t]*=[ \t]*\[[^\]]*["']/m.test(text) ? undefined : [usual];
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

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
