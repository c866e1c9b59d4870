/** The version of the specification that a network speaks. */
import { CNI_VERSIONS, CURRENT_VERSION, closest, compareVersions, isCniVersion } from '@heddle/cni';
import { type AuditRule, networkRule, partRule } from '../audit-rule.ts';
import { type Network, nameOf, speaks } from '../model/network.ts';
import type { InstalledPlugins } from '../model/ports.ts';

const malformed = networkRule({
  id: 'version/malformed',
  title: 'A version that is none',
  severity: 'error',
  fixable: true,
  explains:
    'A version is written as in the list of released ones: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0. Plugins compare it letter by letter, so `1.0` and `v1.0.0` are versions that no plugin has.',
  *check({ document, path, raw, startedBy }) {
    const own = versionsIn(raw);
    for (const { value, at } of own) {
      if (typeof value === 'string' && (value === '' || isCniVersion(value))) continue;
      if (typeof value === 'string' && isUnreleased(value)) continue;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const meant = normalized(text);
      const near = meant ?? closest(text, CNI_VERSIONS);
      const node = document.node([...path, ...at]);
      yield {
        ...(startedBy !== undefined && { severity: 'warning' as const }),
        place: document.place([...path, ...at]),
        what: `${typeof value === 'string' ? JSON.stringify(value) : text} is no version of the specification`,
        consequence: `Every plugin refuses it: "incompatible CNI versions", or "invalid version".`,
        remedy: near === undefined ? `Write one of ${CNI_VERSIONS.join(', ')}.` : `Write "${near}".`,
        ...(meant !== undefined &&
          node !== undefined && {
            fix: {
              what: `write ${meant}`,
              edits: [
                {
                  file: document.path,
                  offset: node.offset,
                  length: node.length,
                  text: JSON.stringify(meant),
                },
              ],
            },
          }),
      };
    }
  },
});

const unreleased = networkRule({
  id: 'version/unreleased',
  title: 'A version that is newer than all there are',
  severity: 'error',
  explains: `The newest version of the specification is ${CURRENT_VERSION}. Plugins refuse any that they do not know.`,
  *check(network, { installed }) {
    const { document, path, raw, version } = network;
    // A newer one among several that are offered is what the list of them is for.
    if (raw['cniVersion'] !== version || !isUnreleased(version)) return;
    const newest = installed && highestCommon(network, installed);
    yield {
      place: document.place([...path, 'cniVersion']),
      what: `there is no version ${version} of the specification`,
      consequence: 'Every plugin refuses it: "incompatible CNI versions".',
      remedy:
        newest === undefined
          ? `Write "${CURRENT_VERSION}", or an older one that all plugins of the network know.`
          : `Write "${newest}", the newest that all plugins of this network know.`,
    };
  },
});

const missing = networkRule({
  id: 'version/missing',
  title: 'No version',
  severity: 'warning',
  explains:
    'Without `cniVersion` a configuration counts as 0.1.0. Results of that version do not say which interface an address is on; containerd then finds no address for the Pod, and plugins that came later refuse to run.',
  *check({ document, path, raw, version, file, startedBy }) {
    if (version !== '' || startedBy !== undefined || file.role === 'sibling') return;
    const misspelled = Object.keys(raw).find(
      (key) => closest(key, ['cniVersion']) !== undefined && key !== 'cniVersion',
    );
    const value = raw['cniVersion'];
    if (value !== undefined && value !== '') return;
    yield {
      place: misspelled === undefined ? document.place(path) : document.keyPlace([...path, misspelled]),
      what:
        misspelled === undefined ? 'there is no cniVersion' : `there is "${misspelled}", but no cniVersion`,
      consequence: 'It counts as 0.1.0; containerd finds no address for the Pod in results of that version.',
      remedy: 'Add "cniVersion", the newest that all plugins of the network know: "1.0.0" for most of today.',
    };
  },
});

const tooOldForPlugin = partRule({
  id: 'version/older-than-plugin',
  title: 'A version from before the plugin',
  severity: 'error',
  explains:
    'Some plugins speak only newer versions: firewall from 0.4.0, vrf from 0.3.1, bandwidth from 0.3.0. With an older one they refuse to run.',
  *check({ document, path, type, known }, network, { installed }) {
    // One that has said what it speaks is judged by that.
    if (type !== undefined && installed?.find(type).versions !== undefined) return;
    if (known?.since === undefined || speaks(network, known.since)) return;
    yield {
      place: document.place([...path, 'type']),
      what: `${type} needs version ${known.since}, and ${nameOf(network)} speaks ${shown(network)}`,
      consequence: 'The plugin refuses to run: "incompatible CNI versions".',
      remedy: `Set "cniVersion" to "${known.since}" or newer.`,
    };
  },
});

const tooOldForChain = networkRule({
  id: 'version/older-than-chains',
  title: 'A chain in a version without previous results',
  severity: 'error',
  explains:
    'Since 0.3.0 a plugin gets the result of the one before it. In an older version every further plugin of a list fails, or loses what the first one did.',
  *check(network) {
    if (network.parts.length < 2 || speaks(network, '0.3.0')) return;
    if (!network.parts.some(({ index, known }) => index > 0 && known?.role === 'meta')) return;
    yield {
      place: network.document.place([...network.path, 'cniVersion']),
      what: `${nameOf(network)} has several plugins, but speaks ${shown(network)}`,
      consequence: 'Plugins after the first get no result of the one before and fail.',
      remedy: 'Set "cniVersion" to "0.4.0" or newer.',
    };
  },
});

const unsupported = partRule({
  id: 'version/unsupported-by-plugin',
  title: 'A version that an installed plugin does not know',
  severity: 'error',
  explains:
    'Plugins of a distribution are often older than the configuration. Looked at only on the machine itself: each plugin is asked for its versions.',
  *check({ document, path, type = '', ipamType }, network, { installed }) {
    if (installed === undefined) return;
    const answers = [type, ipamType ?? ''].flatMap((each) => {
      const { path: binary, versions } =
        each === '' ? { path: undefined, versions: undefined } : installed.find(each);
      return binary === undefined || versions === undefined ? [] : [{ each, binary, versions }];
    });
    const version = network.version === '' ? '0.1.0' : network.version;
    const refusing = answers.filter(({ versions }) => !versions.includes(version));
    if (refusing.length === 0 || !isCniVersion(version)) return;
    const common = highestCommon(network, installed);
    yield {
      place: document.place([...path, 'type']),
      what: `${refusing.map(({ each }) => each).join(' and ')} as installed cannot speak version ${version}`,
      consequence: 'The runtime, or the plugin, refuses: no container gets a network.',
      remedy:
        common === undefined
          ? 'Install newer plugins: there is no version that all of this network know.'
          : `Set "cniVersion" to "${common}", the newest that all plugins of this network know, or install newer plugins.`,
      evidence: refusing.map(({ binary, versions }) => `${binary} speaks ${versions.join(', ')}`),
    };
  },
});

/** Rules on versions, the likeliest first. */
export const VERSION_RULES: readonly AuditRule[] = [
  ...[malformed, unreleased, unsupported, tooOldForPlugin, tooOldForChain, missing],
];

function versionsIn(raw: Network['raw']) {
  const one = raw['cniVersion'] === undefined ? [] : [{ value: raw['cniVersion'], at: ['cniVersion'] }];
  const offered = raw['cniVersions'];
  if (!Array.isArray(offered)) return one;
  return [...one, ...offered.map((value: unknown, index) => ({ value, at: ['cniVersions', index] }))];
}

/** Well formed, and newer than all that there are. */
function isUnreleased(version: string): boolean {
  return /^\d+\.\d+\.\d+$/.test(version) && compareVersions(version, CURRENT_VERSION) > 0;
}

/** The released version that is written in another way: with a `v`, spaces, or fewer numbers. */
function normalized(text: string): string | undefined {
  const numbers = text.trim().replace(/^v/i, '');
  const full = [...numbers.split('.'), '0', '0'].slice(0, 3).join('.');
  return full !== text && isCniVersion(full) ? full : undefined;
}

function shown({ version }: Network): string {
  return version === '' ? '0.1.0, for it names none' : version;
}

function highestCommon(network: Network, installed: InstalledPlugins) {
  const types = network.parts
    .flatMap(({ type = '', ipamType = '' }) => [type, ipamType])
    .filter((type) => type !== '');
  const sets = types.map((type) => installed.find(type).versions);
  return CNI_VERSIONS.findLast((version) => sets.every((set) => set === undefined || set.includes(version)));
}
