/**
 * The networks of the node: whether the one in force can work, is ready, and is the one that the runtime goes by. What
 * is wrong in the files themselves is the audit's.
 */
import { atLeast, CniError, compareVersions, DecodeError, goJson, type NetworkConfigList } from '@heddle/cni';
import { findPlugin, Runtime } from '@heddle/cni/runtime';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck } from './check.ts';
import { DAEMONS } from './known-plugins.ts';

const none = doctorRule({
  id: 'network/none',
  severity: 'error',
  title: 'There is no network configuration',
  explains:
    'The directory of network configurations is empty or not there. containerd and CRI-O then report the node as not ready ("cni plugin not initialized", "no networks found").',
});

const displaced = doctorRule({
  id: 'network/displaced',
  severity: 'error',
  title: 'A file that cannot work sorts before one that can',
  explains:
    'Runtimes of Kubernetes attach pods to the first file by name. Often it is one that the last CNI left behind, whose programs or daemon are gone, while the file of the present one sorts after it.',
});

const daemonAbsent = doctorRule({
  id: 'network/daemon-absent',
  severity: 'error',
  title: 'The daemon of a plugin has not come up',
  explains:
    'Many plugins only pass requests on to a daemon of the node, or wait for a file that it writes when it is ready. Looked for are the sockets and files of the well-known ones.',
});

const notReady = doctorRule({
  id: 'network/not-ready',
  severity: 'error',
  title: 'A plugin says that it is not ready',
  explains:
    'Networks of version 1.1.0 and later are asked (STATUS) whether a container could be attached now.',
});

const notLoaded = doctorRule({
  id: 'network/not-loaded',
  severity: 'warning',
  title: 'The runtime goes by an older configuration',
  explains:
    'Runtimes read configurations when they start and when they see the directory change, which they do not always see (a directory that was made anew, a link that was turned). Containers that were attached after the last change tell which text the runtime had.',
});

/** See the file's comment. */
export const networksCheck: NodeCheck = {
  rules: [none, displaced, daemonAbsent, notReady, notLoaded],
  async look(view) {
    return [
      ...nothing(view),
      ...displacing(view),
      ...absentDaemons(view),
      ...(await unready(view)),
      ...stale(view),
    ];
  },
};

/** Files that are there and cannot be used are the audit's. */
function nothing({ networks, ports }: NodeView): readonly Finding[] {
  if (networks.networks.length > 0 || networks.broken.length > 0) return [];
  const { configDir } = ports.places;
  const isThere = ports.files.facts(configDir)?.kind === 'directory';
  return [
    found(none, {
      subject: configDir,
      what: isThere
        ? `there is no network configuration in ${configDir}`
        : `there is no directory ${configDir}`,
      consequence: 'The runtime reports the network as not ready, and attaches nothing.',
      remedy:
        'install a CNI, whose installer writes a file there, or see why its installer has not; Heddle as a first one:',
      commands: ['heddle install'],
    }),
  ];
}

/** A first network that cannot work, with one after it that can. */
function displacing(view: NodeView): readonly Finding[] {
  const ordered = view.networks.networks.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const [first, ...others] = ordered;
  if (first === undefined) return [];
  const why = obstacleOf(view, first.list);
  const next = others.find(({ list }) => obstacleOf(view, list) === undefined);
  if (why === undefined || next === undefined) return [];
  return [
    found(displaced, {
      place: { file: first.path },
      subject: `network ${first.list.name}`,
      what: `${first.path} sorts before ${next.path}, and cannot work: ${why}`,
      consequence: `Pods are attached by ${first.path}, and fail.`,
      remedy: `move ${first.path} out of the way, if it is left from another CNI; else give ${next.path} a lower number`,
      commands: [commandLine('mv', first.path, `${first.path}.disabled`)],
    }),
  ];
}

function obstacleOf(view: NodeView, list: NetworkConfigList): string | undefined {
  const { places } = view.ports;
  for (const { type, ipamType } of list.plugins) {
    for (const each of [type, ...(ipamType === undefined ? [] : [ipamType])]) {
      try {
        findPlugin(each, places.pluginPath);
      } catch (error) {
        if (error instanceof CniError) return `plugin ${each} is not installed`;
        throw error;
      }
    }
  }
  const absent = daemonsOf(list).find(({ path }) => view.ports.files.facts(path) === undefined);
  return absent && `${absent.path}, which ${absent.daemon} provides, is not there`;
}

function daemonsOf({ plugins }: NetworkConfigList) {
  return plugins.flatMap(({ type, ipamType = '' }) =>
    DAEMONS.filter(({ types }) => types.includes(type) || types.includes(ipamType)),
  );
}

function absentDaemons(view: NodeView): readonly Finding[] {
  return view.networks.networks.flatMap(({ list, path: file }) =>
    daemonsOf(list)
      .filter(({ path }) => view.ports.files.facts(path) === undefined)
      .map(({ daemon, path, types }) =>
        found(daemonAbsent, {
          place: { file },
          subject: `network ${list.name}`,
          what: `${path}, which ${daemon} provides, is not there`,
          consequence: `The plugin ${types[0]} fails, and no container can be attached to ${list.name}.`,
          remedy: `see why ${daemon} does not run on this node; if that CNI is not in use any more, remove ${file}`,
        }),
      ),
  );
}

async function unready(view: NodeView): Promise<readonly Finding[]> {
  const { exec, env, places, machine } = view.ports;
  // A plugin that may do nothing says that it cannot, which is no word on the network.
  if (machine.uid !== 0) return [];
  const runtime = new Runtime({ path: places.pluginPath, env, exec, cacheDir: places.cacheDir });
  const findings: Finding[] = [];
  for (const { list, path } of view.networks.networks) {
    if (!hasStatus(list) || obstacleOf(view, list) !== undefined) continue;
    try {
      await runtime.status(list, { signal: AbortSignal.timeout(PATIENCE) });
    } catch (error) {
      if (!(error instanceof CniError)) throw error;
      // A plugin that does not speak the version is another rule's.
      if (error.cniCode === INCOMPATIBLE) continue;
      findings.push(
        found(notReady, {
          place: { file: path },
          subject: `network ${list.name}`,
          what: error.message,
          consequence: `A container that is attached to ${list.name} now will probably fail.`,
          remedy: 'mend what it says; `heddle status` asks again',
          ...(error.cniDetails !== undefined && error.cniDetails !== '' && { evidence: [error.cniDetails] }),
        }),
      );
    }
  }
  return findings;
}

/** A version that is none is the audit's. */
function hasStatus({ cniVersion }: NetworkConfigList): boolean {
  try {
    return atLeast(cniVersion || '0.1.0', '1.1.0');
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

/** Attachments that were made after a file was changed, by another text than the file has. */
function stale(view: NodeView): readonly Finding[] {
  return view.networks.networks.flatMap(({ list, path }) => {
    const changedAt = view.ports.files.facts(path)?.changedAt;
    if (changedAt === undefined) return [];
    const later = view.cached.filter(
      ({ network, addedAt, config }) =>
        network === list.name && addedAt > changedAt + MARGIN && !sameConfig(config, list),
    );
    const [example] = later;
    if (example === undefined) return [];
    return [
      found(notLoaded, {
        place: { file: path },
        subject: `network ${list.name}`,
        what: `containers attached after ${path} was changed got an older configuration`,
        consequence: 'What was changed has no effect on new containers.',
        remedy: 'restart the container runtime, or replace the file anew (write another, then rename it)',
        evidence: [
          `changed ${new Date(changedAt).toISOString()}`,
          `${example.containerID} was attached ${new Date(example.addedAt).toISOString()} with another text`,
        ],
      }),
    ];
  });
}

/** Runtimes keep the text as it was, but for white space and what they derive; plugins are what matters. */
function sameConfig(config: Uint8Array, { plugins, cniVersion }: NetworkConfigList): boolean {
  try {
    const { plugins: then, cniVersion: version = '', type } = JSON.parse(new TextDecoder().decode(config));
    if (type !== undefined) return true;
    const isNewer = version !== '' && cniVersion !== '' && compareVersions(version, cniVersion) !== 0;
    return !isNewer && goJson(then) === goJson(plugins.map(({ raw }) => raw));
  } catch {
    // A text that cannot be read proves nothing.
    return true;
  }
}

const PATIENCE = 5000;
/** A file is written, seen and read within this. */
const MARGIN = 30_000;
/** The code for a version that is not spoken. */
const INCOMPATIBLE = 1;
