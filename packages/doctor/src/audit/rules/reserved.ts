/** Members that are not the operator's to write: the runtime adds them, or they belong into the environment. */
import { type AuditRule, partRule } from '../audit-rule.ts';
import { knowsMember } from '../known/members.ts';
import { speaks } from '../model/network.ts';

const runtimeMember = partRule({
  id: 'reserved/runtime-member',
  title: 'A member that the runtime writes itself',
  severity: 'warning',
  explains:
    'The runtime adds `prevResult` and the members that begin with `cni.dev/` to what a plugin gets, and overwrites what the file has. With `prevResult` in a file the first plugin of a chain takes an invented result for a true one.',
  *check({ document, path, raw }) {
    for (const key of Object.keys(raw)) {
      if (!/^(prevresult|cni\.dev\/.*)$/i.test(key)) continue;
      yield {
        place: document.keyPlace([...path, key]),
        what: `"${key}" is for the runtime to write`,
        consequence:
          key.toLowerCase() === 'prevresult'
            ? 'The first plugin of the chain takes it for the result of one before; all others never see it.'
            : 'The runtime overwrites it where it means anything.',
        remedy: 'Remove it.',
      };
    }
  },
});

const environmentMember = partRule({
  id: 'reserved/environment-member',
  title: 'A parameter of the environment inside the configuration',
  severity: 'warning',
  explains:
    'Which container, which namespace, which interface and which command a call is about comes in environment variables (`CNI_CONTAINERID`, `CNI_NETNS`, `CNI_IFNAME`, `CNI_COMMAND`, `CNI_PATH`, `CNI_ARGS`). Members such as `container`, `netns` or `ifName` in the file have no effect, but with plugins that have a member of that name.',
  *check({ document, path, raw, type, known }) {
    for (const key of Object.keys(raw)) {
      const variable = variableFor(key);
      if (variable === undefined || (type !== undefined && knowsMember(type, key))) continue;
      // What a plugin that nobody knows does with `container` is its own affair; CNI_NETNS is nobody's.
      if (known === undefined && !key.startsWith('CNI_')) continue;
      yield {
        place: document.keyPlace([...path, key]),
        what: `"${key}" belongs into the environment, as ${variable}`,
        consequence: 'Nothing reads it; the value that the runtime passes counts.',
        remedy: 'Remove it.',
      };
    }
  },
});

const VARIABLES: Readonly<Record<string, string>> = {
  ...{
    container: 'CNI_CONTAINERID',
    containerid: 'CNI_CONTAINERID',
    netns: 'CNI_NETNS',
    ifname: 'CNI_IFNAME',
  },
  ...{ command: 'CNI_COMMAND', sandbox: 'CNI_NETNS', cni_path: 'CNI_PATH', cni_args: 'CNI_ARGS' },
};

function variableFor(key: string): string | undefined {
  if (/^CNI_[A-Z_]+$/.test(key)) return key;
  return VARIABLES[key.toLowerCase()];
}

const writtenRuntimeConfig = partRule({
  id: 'reserved/runtime-config',
  title: 'A runtimeConfig that gets lost',
  severity: 'warning',
  explains:
    'A `runtimeConfig` in the file is passed on only as long as the runtime has nothing to say for the capabilities that the plugin declares; otherwise it is replaced as a whole.',
  *check({ document, path, raw, capabilities }) {
    if (raw['runtimeConfig'] === undefined || capabilities.length === 0) return;
    yield {
      place: document.keyPlace([...path, 'runtimeConfig']),
      what: `"runtimeConfig" stands beside the capabilities ${capabilities.join(', ')}`,
      consequence:
        'It counts for containers for which the runtime passes nothing, and is lost for all others.',
      remedy:
        'Keep either the capabilities, for the runtime to fill, or the values, as members of the plugin.',
    };
  },
});

const ownVersion = partRule({
  id: 'reserved/version-in-plugin',
  title: 'A version of its own inside a list',
  severity: 'note',
  explains:
    "All plugins of a list speak the list's version. A `cniVersion` in a plugin of a list is overwritten.",
  *check({ document, path, raw }, network) {
    const own = raw['cniVersion'];
    if (!network.isList || document !== network.document || typeof own !== 'string') return;
    if (own === network.version || !speaks(network, '0.3.0')) return;
    yield {
      place: document.place([...path, 'cniVersion']),
      what: `the plugin names version ${own}, the list ${network.version}`,
      consequence: `It gets ${network.version}.`,
      remedy: 'Remove it from the plugin.',
    };
  },
});

/** Rules on members that are not the operator's, the likeliest first. */
export const RESERVED_RULES: readonly AuditRule[] = [
  ...[environmentMember, runtimeMember, writtenRuntimeConfig, ownVersion],
];
