/** The executables that configurations name. */
import { closest } from '@heddle/cni';
import { type AuditRule, partRule } from '../audit-rule.ts';
import { KNOWN_PLUGINS } from '../known/known-plugins.ts';
import { nameOf, type textMember } from '../model/network.ts';

const misspelledType = partRule({
  id: 'chain/misspelled-type',
  title: 'A type that looks like a misspelling',
  severity: 'warning',
  explains:
    'The type is unknown here, and all but equal to a known one. Other plugins may have any name: one that is installed is not told of.',
  *check({ document, path, ipamPath, type, known, ipamType }, _network, { installed }) {
    const looks = [
      { name: known === undefined ? type : undefined, at: [...path, 'type'], of: () => true },
      {
        ...{
          name: ipamType !== undefined && KNOWN_PLUGINS.get(ipamType) === undefined ? ipamType : undefined,
        },
        ...{ at: [...ipamPath, 'type'], of: (each: string) => KNOWN_PLUGINS.get(each)?.role === 'ipam' },
      },
    ];
    for (const { name, at, of } of looks) {
      if (name === undefined || name.length < 3 || installed?.find(name).path !== undefined) continue;
      const meant = closest(name, [...KNOWN_PLUGINS.keys()].filter(of));
      if (meant === undefined) continue;
      yield {
        place: document.place(at),
        what: `there is no well-known plugin "${name}"; did you mean "${meant}"?`,
        consequence: `Every attachment fails: "failed to find plugin", unless an executable has that name.`,
        remedy: `Write "${meant}", or install ${name}.`,
      };
    }
  },
});

const notInstalled = partRule({
  id: 'chain/plugin-not-installed',
  title: 'A plugin that is not installed',
  severity: 'error',
  explains:
    'The executable of a `type`, or of an `ipam.type`, is in none of the plugin directories, or what is there cannot be started: a broken link, a directory, a file without the right to be executed, a program for another processor. Looked at only on the machine itself.',
  *check({ document, path, ipamPath, type = '', ipamType, known, raw }, network, { installed }) {
    if (installed === undefined) return;
    const delegate = known?.type === 'flannel' ? flannelDelegates(raw) : [];
    const needed = [
      { name: type, at: [...path, 'type'] },
      ...(ipamType === undefined || known?.addresses === 'own'
        ? []
        : [{ name: ipamType, at: [...ipamPath, 'type'] }]),
      ...delegate.map((name) => ({ name, at: path })),
    ];
    for (const { name, at } of needed) {
      if (name === '' || name.includes('/')) continue;
      const { path: binary, obstacles } = installed.find(name);
      if (binary !== undefined) continue;
      yield {
        place: document.place(at),
        what:
          obstacles.length > 0 ? `${name} cannot be started: ${obstacles[0]}` : `${name} is not installed`,
        consequence: `Every attachment to ${nameOf(network)} fails: failed to find plugin "${name}" in path [${installed.directories.join(' ')}].`,
        remedy: `Install ${name} in ${installed.directories.join(' or ')}, or tell the runtime where it is.`,
        evidence: obstacles.slice(1),
      };
    }
  },
});

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
      remedy: 'Remove what is broken.',
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
export const EXECUTABLE_RULES: readonly AuditRule[] = [notInstalled, misspelledType, obstacle];
