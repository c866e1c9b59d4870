/** Whether the plugins that networks name can be run on this machine. */
import { CNI_VERSIONS, CniError, isCniVersion, type NetworkConfigList, PluginError } from '@heddle/cni';
import { findPlugin, type PluginVersions, Runtime } from '@heddle/cni/runtime';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck } from './check.ts';
import { interpreterProblem, mountProblem } from './program-file.ts';
import { anew, fromHere, placeOf } from './replacement.ts';

const missing = doctorRule({
  id: 'program/missing',
  severity: 'error',
  title: 'A plugin is not installed',
  explains:
    'Every `type` in a network, and every `ipam.type`, is the name of a program in one of the plugin directories. Looked for as the runtime does: the first directory that has it wins.',
});

const unusable = doctorRule({
  id: 'program/unusable',
  severity: 'error',
  title: 'A plugin is there but cannot be started',
  explains:
    'A broken link, a directory in its place, no permission to execute, a file system mounted `noexec`, a program for another processor, an empty or cut-off file, a script or program whose interpreter is not installed. The kernel tells most of these as "no such file" or "exec format error".',
});

const fails = doctorRule({
  id: 'program/fails',
  severity: 'error',
  title: 'A plugin starts and fails',
  explains:
    'Each plugin is asked for its versions (VERSION), which touches nothing. One that crashes, prints nothing or prints something else than JSON then will do no better when a container is attached.',
});

const version = doctorRule({
  id: 'program/version',
  severity: 'error',
  title: 'A plugin does not speak the version of its network',
  explains:
    "Every plugin of a chain must support the network's `cniVersion`. Runtimes refuse the container otherwise, some of them only after other plugins have run.",
});

const passedOver = doctorRule({
  id: 'program/passed-over',
  severity: 'warning',
  title: 'A plugin directory has an unusable copy of a plugin',
  explains:
    'An earlier directory has a broken link or an unusable file of that name, and a later one a good one. Heddle passes over the bad one; runtimes built on libcni take it, and fail.',
});

/** See the file's comment. */
export const programsCheck: NodeCheck = {
  rules: [missing, unusable, fails, version, passedOver],
  async look(view) {
    const used = typesOf(view.networks.networks.map(({ list }) => list));
    const findings: Finding[] = [];
    const answers = new Map<string, PluginVersions>();
    for (const [type, lists] of used) findings.push(...(await judge(view, { type, lists, answers })));
    return [
      ...together(view, findings),
      ...view.networks.networks.flatMap(({ list }) => unsupported(list, answers)),
    ];
  },
};

/** Several plugins that are missing have one cause. */
function together({ ports: { files, places } }: NodeView, findings: readonly Finding[]): readonly Finding[] {
  const absent = findings.filter(({ id }) => id === missing.id);
  const [first] = absent;
  if (first === undefined) return findings;
  const types = absent.map(({ subject = '' }) => subject.replace('plugin ', ''));
  const elsewhere = OTHER_PLACES.filter((place) => !places.pluginPath.includes(place)).filter((place) =>
    types.every((type) => files.facts(`${place}/${type}`) !== undefined),
  );
  const them = types.length === 1 ? 'it is' : 'they are';
  const merged: Finding = {
    ...first,
    ...(absent.length > 1 && {
      subject: `plugins ${types.join(', ')}`,
      what: `there is no ${types.join(', no ')} in ${places.pluginPath.join(', ')}`,
      evidence: [...new Set(absent.flatMap(({ evidence = [] }) => evidence))],
    }),
    ...(elsewhere.length > 0 && {
      remedy: `${them} in ${elsewhere.join(' and ')}: have the runtime look there (bin_dir, plugin_dirs, CNI_PATH), or install in ${places.pluginPath[0]}`,
    }),
  };
  return [merged, ...findings.filter((each) => !absent.includes(each))];
}

/** Where distributions put plugins. */
const OTHER_PLACES = ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni', '/usr/local/libexec/cni'];

/** Types of plugins, and the networks that use each. */
function typesOf(lists: readonly NetworkConfigList[]): ReadonlyMap<string, readonly NetworkConfigList[]> {
  const used = new Map<string, readonly NetworkConfigList[]>();
  for (const list of lists) {
    const types = list.plugins.flatMap(({ type, ipamType }) => [
      type,
      ...(ipamType === undefined ? [] : [ipamType]),
    ]);
    for (const type of new Set(types)) used.set(type, [...(used.get(type) ?? []), list]);
  }
  return used;
}

interface Used {
  readonly type: string;
  readonly lists: readonly NetworkConfigList[];
  /** What plugins have said, by their types; more are added. */
  readonly answers: Map<string, PluginVersions>;
}

async function judge(view: NodeView, { type, lists, answers }: Used): Promise<readonly Finding[]> {
  const { places, files } = view.ports;
  const subject = `plugin ${type}`;
  const users = `used by ${lists.map(({ name, file }) => `${name} (${file ?? 'no file'})`).join(', ')}`;
  const consequence = `No container can be attached to ${lists.map(({ name }) => name).join(' or ')}.`;
  let path: string;
  let obstacles: readonly string[];
  try {
    ({ path, obstacles } = findPlugin(type, places.pluginPath));
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    const isThere = error.cniDetails !== undefined && error.cniDetails !== '';
    // To a program on such a file system, the kernel says what it says to one without permission.
    const unmounted = places.pluginPath
      .map((directory) => `${directory}/${type}`)
      .filter((file) => files.facts(file)?.kind === 'file')
      .map((file) => mountProblem(files, file))
      .find((problem) => problem !== undefined);
    return [
      found(isThere ? unusable : missing, {
        ...{ subject, consequence, evidence: [users] },
        what: isThere
          ? `${type} cannot be started: ${unmounted?.what ?? error.cniDetails}`
          : `there is no ${type} in ${places.pluginPath.join(', ')}`,
        ...(isThere
          ? unmounted === undefined
            ? anew(view, type, placeOf(view, type))
            : { remedy: unmounted.remedy }
          : {
              remedy: `install the plugin package of this node's network in ${places.pluginPath[0]}, or correct "type"${hintOf(error)}${fromHere(view, type) === undefined ? '' : "; Heddle's plugins:"}`,
              commands: [fromHere(view, type) ?? []].flat(),
            }),
      }),
    ];
  }
  const problem = interpreterProblem(files, path) ?? mountProblem(files, path);
  if (problem !== undefined) {
    return [
      found(unusable, {
        ...{ subject, consequence, evidence: [users] },
        what: `${path} cannot be started: ${problem.what}`,
        remedy: problem.remedy,
      }),
    ];
  }
  const earlier = obstacles.map((obstacle) =>
    found(passedOver, {
      ...{ subject, what: `${path} is used, although ${obstacle}` },
      consequence: 'Runtimes that take the first file of that name fail to start it.',
      remedy: 'remove the unusable file, or install the plugin there anew',
    }),
  );
  return [...earlier, ...(await ask(view, { type, path, answers, consequence, users }))];
}

interface Asked {
  readonly type: string;
  readonly path: string;
  readonly answers: Used['answers'];
  readonly consequence: string;
  readonly users: string;
}

async function ask(
  view: NodeView,
  { type, path, answers, consequence, users }: Asked,
): Promise<readonly Finding[]> {
  const { exec, env, places } = view.ports;
  const subject = `plugin ${type}`;
  const runtime = new Runtime({ path: places.pluginPath, env, exec, cacheDir: places.cacheDir });
  const patience = AbortSignal.timeout(PATIENCE);
  try {
    const answer = await runtime.version(type, { signal: patience });
    if (!('unknown' in answer)) {
      answers.set(type, answer);
      return [];
    }
    // A plugin may refuse the question with an error of its own; only one that said nothing has crashed.
    if (!/^netplugin failed|exec|signal|killed/i.test(answer.unknown.message)) return [];
    throw answer.unknown;
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    // That it was killed then is the doctor's own doing.
    const said = patience.aborted
      ? `no answer within ${PATIENCE / 1000} seconds`
      : [error.message.replace(SAID_BY_US, ''), error.cniDetails ?? '']
          .filter((text) => text !== '')
          .join('; ');
    const isStart =
      error instanceof PluginError && /EACCES|ENOEXEC|exec format|permission denied/i.test(said);
    return [
      found(isStart ? unusable : fails, {
        ...{ subject, consequence },
        what: `${path} ${isStart ? 'cannot be started' : 'fails when it is asked for its versions'}: ${said}`,
        ...anew(view, type, path),
        evidence: [
          users,
          ...(isStart ? [] : [`to see it: CNI_COMMAND=VERSION ${commandLine(path)} < /dev/null`]),
        ],
      }),
    ];
  }
}

/** The plugins of a network that do not speak its version, told at once: one change mends it. */
function unsupported(
  list: NetworkConfigList,
  answers: ReadonlyMap<string, PluginVersions>,
): readonly Finding[] {
  const wanted = list.cniVersion || '0.1.0';
  const asked = [...typesOf([list]).keys()].flatMap((type) => answers.get(type) ?? []);
  const refusing = asked.filter(({ supportedVersions }) => !supportedVersions.includes(wanted));
  // A version that is none is the audit's.
  if (refusing.length === 0 || !isCniVersion(wanted)) return [];
  const types = refusing.map(({ type }) => type).join(', ');
  const common = CNI_VERSIONS.findLast((each) =>
    asked.every(({ supportedVersions }) => supportedVersions.includes(each)),
  );
  return [
    found(version, {
      ...(list.file !== undefined && { place: { file: list.file } }),
      subject: `network ${list.name}`,
      what: `${types} ${refusing.length === 1 ? 'does' : 'do'} not speak version ${wanted}`,
      consequence: `No container can be attached to ${list.name}.`,
      remedy:
        common === undefined
          ? `install a newer ${types}: there is no version that all plugins of the network speak`
          : `set "cniVersion" to "${common}", which all plugins of the network speak, or install a newer ${types}`,
      evidence: refusing.map(
        ({ path, supportedVersions }) => `${path} speaks ${supportedVersions.join(', ')}`,
      ),
    }),
  ];
}

function hintOf({ hint }: CniError): string {
  return hint === undefined ? '' : ` (${hint})`;
}

/** What a runtime says of a plugin that says nothing itself. */
const SAID_BY_US = /^netplugin failed with no error message: (fork\/exec \S+: )?/;

/** VERSION takes milliseconds; a plugin that waits for something will not end by itself. */
const PATIENCE = 5000;
