/**
 * Mounts in which plugins can be run for real without touching the machine: they see its files, and what they write goes
 * to memory. What could reach outside is not there: sockets of daemons below /run, the machine's own sysfs.
 */
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  bindPath,
  enterPrivateMounts,
  makeDirectory,
  mountOverlay,
  mountSysfs,
  mountTmpfs,
  type NetnsHandle,
  runInNetns,
  SysError,
  setReadOnly,
} from '@heddle/sys';

/** A file that was written. */
export interface WrittenFile {
  readonly path: string;
  readonly what: 'made' | 'changed' | 'removed';
}

/** See the file's comment. The process that enters never leaves. */
export class Stage {
  /** Upper layers, by the directory that each is over. */
  readonly #layers: ReadonlyMap<string, string>;
  /** What was copied, or made, below /run. */
  readonly #known: ReadonlySet<string>;
  /** Directories that can only be read, for the kernel refused to put a layer over them. */
  readonly readOnly: readonly string[];

  private constructor(
    layers: ReadonlyMap<string, string>,
    known: ReadonlySet<string>,
    readOnly: readonly string[],
  ) {
    this.#layers = layers;
    this.#known = known;
    this.readOnly = readOnly;
  }

  /**
   * Moves this process, and what it starts from now on, into mounts of its own.
   *
   * @param node the namespace whose links sysfs is to show
   * @throws {SysError} EPERM without CAP_SYS_ADMIN
   */
  static enter(node: NetnsHandle): Stage {
    const files = smallFiles('/run');
    enterPrivateMounts();
    const mounts = mountPoints();
    mountTmpfs('/run');
    for (const [path, content] of files) {
      makeDirectory(dirname(path));
      writeFileSync(path, content);
    }
    for (const path of [BASE, '/run/lock', '/run/netns']) makeDirectory(path);
    const { layers, readOnly } = layer(mounts);
    for (const point of mounts) {
      if (!layers.has(point) && !isBelow(point, LEFT_ALONE)) attempt(() => setReadOnly(point, true));
    }
    if (isDirectory('/dev/shm')) mountTmpfs('/dev/shm', { mode: 0o1777 });
    protectKernel(node);
    return new Stage(layers, new Set(files.keys()), readOnly);
  }

  /** What was written until now. */
  written(): readonly WrittenFile[] {
    const layered = [...this.#layers].flatMap(([target, upper]) =>
      filesBelow(upper).map((path): WrittenFile => {
        const own = join(target, path.slice(upper.length));
        const isGone = lstatSync(path).isCharacterDevice();
        const wasThere = statSync(join(stashOf(target), path.slice(upper.length)), { throwIfNoEntry: false });
        return { path: own, what: isGone ? 'removed' : wasThere === undefined ? 'made' : 'changed' };
      }),
    );
    const fresh = filesBelow('/run', (path) => !OWN.test(path))
      .filter((path) => !this.#known.has(path))
      .map((path): WrittenFile => ({ path, what: 'made' }));
    return [...layered, ...fresh].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }
}

const BASE = '/run/heddle-plan';
/** Parts of /run that are the stage's, or the runtime's, own. */
const OWN = /^\/run\/(heddle-plan|heddle|netns|lock)(\/|$)/;
/** Where plugins may keep something. */
const LAYERED = ['/etc', '/var', '/opt', '/tmp', '/root', '/home'];
/** What has its own protection, or none that it needs. */
const LEFT_ALONE = ['/proc', '/sys', '/dev', '/run', ...LAYERED];
/** Parts of /run that no plugin reads; sockets are left out everywhere. */
const NOT_COPIED =
  /^\/run\/(netns|user|systemd|udev|docker|containerd|crio|lock|log|credentials|secrets|heddle|initctl)(\/|$)/;
const LARGEST_COPY = 64 * 1024;
const MOST_COPIES = 500;

function layer(mounts: readonly string[]): {
  readonly layers: ReadonlyMap<string, string>;
  readonly readOnly: readonly string[];
} {
  const below = mounts.filter((point) => isBelow(point, LAYERED) && !LAYERED.includes(point));
  const targets = [...LAYERED, ...below].filter(isDirectory);
  // All are kept at hand before the first is covered: a layer over /var hides what is mounted at /var/lib.
  for (const target of targets) {
    makeDirectory(stashOf(target));
    bindPath(target, stashOf(target));
    makeDirectory(mergedOf(target));
    bindPath(target, mergedOf(target));
  }
  const layers = new Map<string, string>();
  const readOnly: string[] = [];
  for (const target of targets) {
    const [upper, work] = [join(BASE, 'upper', flat(target)), join(BASE, 'work', flat(target))];
    for (const directory of [upper, work]) makeDirectory(directory);
    if (attempt(() => mountOverlay(mergedOf(target), upper, work))) layers.set(target, upper);
    else {
      setReadOnly(mergedOf(target), true);
      readOnly.push(target);
    }
    bindPath(mergedOf(target), target);
    setReadOnly(stashOf(target), true);
  }
  return { layers, readOnly };
}

const flat = (target: string): string => target.replaceAll('/', '_');
const stashOf = (target: string): string => join(BASE, 'stash', flat(target));
const mergedOf = (target: string): string => join(BASE, 'merged', flat(target));

/** Of the kernel's own files, only the parameters of the network may be written: each namespace has its own. */
function protectKernel(node: NetnsHandle): void {
  bindPath('/proc/sys', '/proc/sys');
  setReadOnly('/proc/sys', true);
  bindPath('/proc/sys/net', '/proc/sys/net');
  setReadOnly('/proc/sys/net', false);
  runInNetns(node, () => mountSysfs('/sys'));
}

/** Mount points, the outer ones first. */
function mountPoints(): readonly string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  const points = lines.map((line) =>
    (line.split(' ')[4] ?? '/').replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    ),
  );
  return [...new Set(points)].toSorted((a, b) => a.length - b.length);
}

function isBelow(point: string, directories: readonly string[]): boolean {
  return directories.some((directory) => point === directory || point.startsWith(`${directory}/`));
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Whether the kernel did it. */
function attempt(step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    if (error instanceof SysError) return false;
    throw error;
  }
}

function smallFiles(directory: string): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const path of filesBelow(directory, (each) => !NOT_COPIED.test(each))) {
    if (files.size === MOST_COPIES) break;
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > LARGEST_COPY) continue;
    try {
      files.set(path, readFileSync(path));
    } catch {
      // Gone by now, or not to be read: no plugin could either.
    }
  }
  return files;
}

/** What is no directory, below one; nothing of what cannot be listed. */
function filesBelow(directory: string, isWanted: (path: string) => boolean = () => true): readonly string[] {
  let entries: ReturnType<typeof list>;
  try {
    entries = list(directory);
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    if (!isWanted(path)) return [];
    return entry.isDirectory() ? filesBelow(path, isWanted) : [path];
  });
}

function list(directory: string) {
  return readdirSync(directory, { withFileTypes: true });
}
