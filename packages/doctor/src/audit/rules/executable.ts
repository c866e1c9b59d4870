/** The executables that configurations name. */
import { closest } from '@heddle/cni';
import { PROFILES } from '../../explain/runtimes.ts';
import { type AuditRule, networkRule, partRule } from '../audit-rule.ts';
import { KNOWN_PLUGINS } from '../known/known-plugins.ts';
import { nameOf, type PluginPart, type textMember } from '../model/network.ts';
import { type AuditedDirectory, selectFor } from '../model/selection.ts';

const misspelledType = partRule({
  id: 'chain/misspelled-type',
  title: 'A type that looks like a misspelling',
  severity: 'warning',
  explains:
    'The type is unknown here, and all but equal to a known one. Other plugins may have any name: one that is installed is not told of.',
  *check({ document, path, ipamPath, type = '', ipamType = '' }, _network, { installed }) {
    const looks = [
      { name: type, at: [...path, 'type'], meant: meantBy(type) },
      { name: ipamType, at: [...ipamPath, 'type'], meant: meantBy(ipamType, isIpam) },
    ];
    for (const { name, at, meant } of looks) {
      if (meant === undefined || installed?.find(name).path !== undefined) continue;
      yield {
        ...(installed !== undefined && { severity: 'error' as const }),
        place: document.place(at),
        what: `there is no ${installed === undefined ? 'well-known ' : ''}plugin "${name}"; did you mean "${meant}"?`,
        consequence: `Every attachment fails: failed to find plugin "${name}"${installed === undefined ? ', unless an executable has that name' : ''}.`,
        remedy: `Write "${meant}", or install ${name}.`,
      };
    }
  },
});

function isIpam(type: string): boolean {
  return KNOWN_PLUGINS.get(type)?.role === 'ipam';
}

const notInstalled = networkRule({
  id: 'chain/plugin-not-installed',
  title: 'A plugin that is not installed',
  severity: 'error',
  explains:
    'The executable of a `type`, or of an `ipam.type`, is in none of the plugin directories, or what is there cannot be started: a broken link, a directory, a file without the right to be executed, a program for another processor. Looked at only on the machine itself.',
  *check(network, { installed, directories }) {
    if (installed === undefined) return;
    const lacking = [...new Map(network.parts.flatMap(neededBy).map((need) => [need.name, need])).values()]
      .map((need) => ({ ...need, ...installed.find(need.name) }))
      .filter(({ name, path }) => path === undefined && meantBy(name) === undefined);
    const where = installed.directories.join(' or ');
    const consequence = (name: string) =>
      `Every attachment to ${nameOf(network)} fails: failed to find plugin "${name}".`;
    for (const { name, place, obstacles } of lacking) {
      const [first, ...others] = obstacles;
      if (first === undefined) continue;
      yield {
        place: place(),
        what: `${name} cannot be started: ${first}`,
        consequence: consequence(name),
        remedy: `Install ${name} again.`,
        evidence: others,
      };
    }
    const absent = lacking.filter(({ obstacles }) => obstacles.length === 0);
    const [first] = absent;
    if (first === undefined) return;
    const names = absent.map(({ name }) => name).join(', ');
    const displaced = directories.map((directory) => displacedBy(network.document.path, directory));
    const next = displaced.find((path) => path !== undefined);
    const leftover =
      next === undefined
        ? ''
        : `; if ${network.document.path} is left from another CNI, remove it, and Pods get ${next}`;
    yield {
      place: first.place(),
      what: `${names} ${absent.length === 1 ? 'is' : 'are'} not installed`,
      consequence: consequence(first.name),
      remedy: `Install ${names}, or tell the runtime where ${absent.length === 1 ? 'it is' : 'they are'}${leftover}.`,
      evidence: [`looked for in ${where === '' ? 'no directory' : where}`],
    };
  },
});

const outOfReach = networkRule({
  id: 'chain/plugin-out-of-reach',
  title: 'A plugin where the runtime of pods does not look',
  severity: 'error',
  explains:
    'Each runtime has plugin directories of its own: what Podman finds in `/usr/lib/cni`, containerd with its one `bin_dir` does not. Told of the network that pods get, on the machine itself, where the configuration of containerd or CRI-O says where it looks.',
  *check(network, { installed, directories }) {
    if (installed?.readers === undefined) return;
    if (!directories.some((each) => selectFor('crio', each).chosen === network.file)) return;
    if (network.name === PROFILES.podman.usualNetwork) return;
    const needed = new Map(network.parts.flatMap(neededBy).map((need) => [need.name, need]));
    const there = [...needed.values()].flatMap((need) => {
      const { path } = installed.find(need.name);
      return path === undefined ? [] : [{ ...need, path }];
    });
    for (const reader of installed.readers) {
      const lacking = there.filter(({ name }) => installed.find(name, reader.directories).path === undefined);
      const [first] = lacking;
      if (first === undefined) continue;
      const names = lacking.map(({ name }) => name).join(', ');
      yield {
        place: first.place(),
        what: `${reader.runtime} looks for plugins in ${reader.directories.join(', ')} only, and there is no ${names}`,
        consequence: `Every pod that ${reader.runtime} attaches to ${nameOf(network)} fails: failed to find plugin "${first.name}".`,
        remedy: `Install ${names} in ${reader.directories[0]}, or have ${reader.runtime} look there, too (${reader.setting}).`,
        evidence: lacking.map(({ path }) => `${path} is there`),
      };
    }
  },
});

/** The file that would be in force, were it not for this one. */
function displacedBy(path: string, directory: AuditedDirectory): string | undefined {
  const { chosen } = selectFor('crio', directory);
  if (chosen?.path !== path) return undefined;
  const files = directory.files.filter((file) => file !== chosen);
  return selectFor('crio', { ...directory, files }).chosen?.path;
}

/** The executables that a plugin of a chain needs, itself the first. */
function neededBy({ document, path, ipamPath, type = '', ipamType, known, raw }: PluginPart) {
  const own = { name: type, place: () => document.place([...path, 'type']) };
  const isAsked = ipamType !== undefined && known?.addresses !== 'own';
  const ipam = isAsked ? [{ name: ipamType, place: () => document.place([...ipamPath, 'type']) }] : [];
  const started = known?.type === 'flannel' ? flannelDelegates(raw) : [];
  const all = [own, ...ipam, ...started.map((name) => ({ name, place: own.place }))];
  return all.filter(({ name }) => name !== '' && !name.includes('/'));
}

/** The known type that a misspelled one stands for. */
function meantBy(name: string, fits: (type: string) => boolean = () => true): string | undefined {
  if (name.length < 3 || KNOWN_PLUGINS.has(name)) return undefined;
  return closest(name, [...KNOWN_PLUGINS.keys()].filter(fits));
}

const obstacle = partRule({
  id: 'chain/plugin-passed-over',
  title: 'Something useless with the name of a plugin',
  severity: 'warning',
  explains:
    'An earlier plugin directory has something with the name of the plugin that cannot be started; a later one has the plugin. Runtimes that take the first file of that name fail.',
  *check({ document, path, type = '' }, _network, { installed }) {
    if (installed === undefined || type === '' || type.includes('/')) return;
    const { path: binary, obstacles } = installed.find(type);
    if (binary === undefined || obstacles.length === 0) return;
    yield {
      place: document.place([...path, 'type']),
      what: `there is something else with the name ${type}: ${obstacles[0]}`,
      consequence: `A runtime that takes the first one fails; ${binary} would do.`,
      remedy: `Remove it, or install ${type} anew in its place.`,
      evidence: obstacles.slice(1),
    };
  },
});

/** What flannel starts unless told otherwise. */
function flannelDelegates(raw: Parameters<typeof textMember>[0] & object): readonly string[] {
  const delegate = raw['delegate'];
  const type =
    typeof delegate === 'object' && delegate !== null && 'type' in delegate ? delegate['type'] : 'bridge';
  return typeof type === 'string' ? [type, 'host-local'] : [];
}

/** Rules on executables, the likeliest first. */
export const EXECUTABLE_RULES: readonly AuditRule[] = [notInstalled, misspelledType, outOfReach, obstacle];
