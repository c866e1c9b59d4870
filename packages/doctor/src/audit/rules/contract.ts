/** What the specification asks of every configuration, whatever its plugins. */
import { closest, isJsonObject } from '@heddle/cni';
import { type AuditRule, fileRule, networkRule, partRule } from '../audit-rule.ts';
import { nameOf, networksOf } from '../model/network.ts';
import { refused } from './refused.ts';
import { wrapInList } from './wrap-in-list.ts';

const listInSingleFile = fileRule({
  id: 'contract/list-in-conf',
  title: 'A list of plugins in a file for one plugin',
  severity: 'error',
  fixable: true,
  explains:
    'Files that end in `.conf` or `.json` hold one plugin with a `type`; a list with `plugins` belongs in a `.conflist`. Runtimes then say only that the type is missing.',
  *check(file, subject) {
    const [network] = networksOf(file);
    if (file.role !== 'single' || network?.isList !== true) return;
    const to = file.path.replace(/\.(conf|json)$/, '.conflist');
    const isTaken = subject.directories.some(({ files }) => files.some(({ path }) => path === to));
    yield {
      place: network.document.keyPlace(['plugins']),
      what: 'the file holds a list of plugins, but its name is one of a single plugin',
      ...refused(file, subject),
      remedy: `Rename it to ${file.name.replace(/\.(conf|json)$/, '.conflist')}.`,
      ...(!isTaken && { fix: { what: `rename to ${to}`, rename: { from: file.path, to } } }),
    };
  },
});

const singleInListFile = fileRule({
  id: 'contract/plugin-in-conflist',
  title: 'One plugin in a file for a list',
  severity: 'error',
  fixable: true,
  explains:
    'A `.conflist` holds an object with `name`, `cniVersion` and the list `plugins`. One plugin by itself, with its `type` at the top, is refused there.',
  *check(file, subject) {
    const [network] = networksOf(file);
    if (file.role !== 'list' || network === undefined || network.isList) return;
    if (typeof network.raw['type'] !== 'string') return;
    const edits = wrapInList(network);
    yield {
      place: network.document.keyPlace(['type']),
      what: 'the file holds a single plugin, but its name is one of a list',
      ...refused(file, subject),
      remedy: 'Put the plugin into a list: {"cniVersion": …, "name": …, "plugins": [ … ]}.',
      ...(edits !== undefined && { fix: { what: 'put the plugin into a list', edits } }),
    };
  },
});

const noPlugins = networkRule({
  id: 'contract/no-plugins',
  title: 'A list without plugins',
  severity: 'error',
  explains:
    "A list needs the member `plugins` with at least one object in it, or plugins in the folder that is named for the network. The names of a list's own members count in their exact letter case.",
  *check({ file, document, isList, raw, path, parts }, subject) {
    const plugins = raw['plugins'];
    const isBad =
      plugins !== undefined && (!Array.isArray(plugins) || !plugins.every((each) => isJsonObject(each)));
    if (!isList || (parts.length > 0 && !isBad)) return;
    const misspelled = Object.keys(raw).find(
      (key) => key !== 'plugins' && closest(key, ['plugins']) !== undefined,
    );
    yield {
      place:
        misspelled === undefined
          ? document.place([...path, 'plugins'])
          : document.keyPlace([...path, misspelled]),
      what: isBad ? '"plugins" is no list of objects' : 'the list has no plugins',
      ...refused(file, subject),
      remedy:
        misspelled === undefined
          ? 'Write the plugins as "plugins": [{"type": …}, …].'
          : `There is "${misspelled}": it must be spelled "plugins".`,
    };
  },
});

const noName = networkRule({
  id: 'contract/no-name',
  title: 'A network without a name',
  severity: 'error',
  explains:
    'Every network has a `name`: reservations, the result cache and port mappings are kept under it. A list without one is not loaded, one plugin without one fails when it is used.',
  *check({ file, document, raw, path, isList, startedBy }, subject) {
    if (startedBy !== undefined) return;
    const { name } = raw;
    if (typeof name === 'string' && name !== '') return;
    const misspelled = Object.keys(raw).find((key) => key !== 'name' && key.toLowerCase() === 'name');
    if (!isList && misspelled !== undefined) return;
    yield {
      place:
        misspelled === undefined
          ? document.place([...path, 'name'])
          : document.keyPlace([...path, misspelled]),
      what: name === undefined || name === '' ? 'the network has no name' : 'the name is no text',
      ...(isList
        ? refused(file, subject)
        : { consequence: 'Every attachment to it fails: "missing network name".' }),
      remedy:
        misspelled === undefined
          ? 'Add "name", unique on this node.'
          : `There is "${misspelled}": in a list it must be spelled "name".`,
    };
  },
});

const badName = networkRule({
  id: 'contract/name-characters',
  title: 'A name with characters that it may not have',
  severity: 'error',
  explains:
    'A name begins with a letter or a digit, then come letters, digits, `_`, `.` and `-`. It becomes part of paths, so anything else is refused: a name with `../` could leave the directory of the cache.',
  *check(network) {
    const { name, document, path, startedBy } = network;
    if (name === undefined || name === '' || NAME.test(name) || startedBy !== undefined) return;
    yield {
      place: document.place([...path, 'name']),
      what: `the name ${JSON.stringify(name)} has characters that a name may not have`,
      consequence: 'Every attachment to it fails: "invalid characters found in network name".',
      remedy: 'Use letters, digits, "_", "." and "-", the first a letter or a digit.',
    };
  },
});

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

const noType = partRule({
  id: 'contract/no-type',
  title: 'A plugin without a type',
  severity: 'error',
  explains:
    'The `type` of a plugin is the name of its executable in the plugin directories: a name, not a path. A file of one plugin, or a member of a list, without it is refused.',
  *check({ document, path, raw, type }, network, subject) {
    if (!network.isList && network.file.role === 'list') return;
    if (type !== undefined && type !== '' && !type.includes('/')) return;
    const misspelled = Object.keys(raw).find((key) => closest(key, ['type']) !== undefined);
    const isPath = type?.includes('/') === true;
    yield {
      place: document.place([...path, 'type']),
      what: isPath ? `the type ${JSON.stringify(type)} is a path` : 'the plugin has no type',
      ...refused(network.file, subject),
      remedy: isPath
        ? 'Write only the name of the executable; its directory is configured in the runtime.'
        : `Add "type", the name of the executable${misspelled === undefined || misspelled === 'type' ? '' : `; there is "${misspelled}"`}.`,
    };
  },
});

const flagValue = networkRule({
  id: 'contract/flag-value',
  title: 'A flag of a list that is neither true nor false',
  severity: 'error',
  explains:
    '`disableCheck`, `disableGC` and `loadOnlyInlinedPlugins` are `true` or `false`, or a text that says so.',
  *check({ document, path, raw, isList, file }, subject) {
    if (!isList) return;
    for (const key of ['disableCheck', 'disableGC', 'loadOnlyInlinedPlugins']) {
      const value = raw[key];
      if (value === undefined || typeof value === 'boolean') continue;
      if (typeof value === 'string' && /^(true|false)$/i.test(value)) continue;
      yield {
        place: document.place([...path, key]),
        what: `"${key}" is neither true nor false`,
        ...refused(file, subject),
        remedy: 'Write true or false.',
      };
    }
  },
});

const capabilitiesValue = partRule({
  id: 'contract/capabilities-value',
  title: 'Capabilities that are no object of flags',
  severity: 'error',
  explains:
    '`capabilities` is an object whose members are `true` or `false`: `{"portMappings": true}`. A list of names is refused.',
  *check({ document, path, raw }, network, subject) {
    const value = raw['capabilities'];
    if (value === undefined || value === null) return;
    if (
      isJsonObject(value) &&
      Object.values(value).every((each) => typeof each === 'boolean' || each === null)
    )
      return;
    const example = Array.isArray(value) && typeof value[0] === 'string' ? value[0] : 'portMappings';
    yield {
      place: document.place([...path, 'capabilities']),
      what: '"capabilities" is no object of true and false',
      ...refused(network.file, subject),
      remedy: `Write "capabilities": {${JSON.stringify(example)}: true}.`,
    };
  },
});

const listKey = networkRule({
  id: 'contract/list-member',
  title: 'A member of a list that has no meaning',
  severity: 'note',
  explains:
    'Runtimes read `name`, `cniVersion`, `cniVersions`, `plugins`, `disableCheck`, `disableGC` and `loadOnlyInlinedPlugins` of a list, in this very spelling. Anything else has no effect; members for a plugin belong into its object in `plugins`.',
  *check(network) {
    const { document, path, raw, isList } = network;
    if (!isList) return;
    for (const key of Object.keys(raw)) {
      if (LIST_MEMBERS.includes(key) || REMARK.test(key) || OTHERS.test(key)) continue;
      const meant = closest(key, LIST_MEMBERS);
      // Told as a missing name or missing plugins already.
      if ((meant === 'plugins' || meant === 'name') && raw[meant] === undefined) continue;
      yield {
        ...(meant !== undefined && { severity: 'warning' as const }),
        place: document.keyPlace([...path, key]),
        what: `"${key}" has no meaning in a list${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
        consequence: `Nothing reads it: ${nameOf(network)} works as if it were not there.`,
        remedy:
          meant === undefined ? 'Move it into the plugin that it is for, or remove it.' : `Write "${meant}".`,
      };
    }
  },
});

const LIST_MEMBERS: readonly string[] = [
  ...['name', 'cniVersion', 'cniVersions', 'plugins', 'disableCheck', 'disableGC', 'loadOnlyInlinedPlugins'],
];

/** Remarks: plugins and runtimes pass over them, and so do we. */
const REMARK = /^([_#/$].*|comment|description|documentation|.*\/.*)$/i;

/** What nerdctl and others keep in lists for themselves. */
const OTHERS = /^(nerdctl|podman|args$)/;

/** Rules on the contract, the likeliest first. */
export const CONTRACT_RULES: readonly AuditRule[] = [
  ...[listInSingleFile, singleInListFile, noPlugins, noName, noType, badName],
  ...[capabilitiesValue, flagValue, listKey],
];
