/** What would happen on ADD: which file, which plugins in which order, what each would get and which program it is. */
import {
  type CniArgs,
  deriveStdin,
  goJson,
  type JsonObject,
  type NetworkConfigList,
  type PluginConfig,
} from '@heddle/cni';
import { pluginEnvironment } from '@heddle/cni/runtime';
import { audit } from '../audit/audit.ts';
import type { ReadFiles } from '../audit/model/ports.ts';
import type { RuntimeName } from '../audit/model/selection.ts';
import type { Finding } from '../finding.ts';
import { type DelegateUse, delegatesOf } from '../programs/delegates.ts';
import type { Program, Programs } from '../programs/program.ts';
import { type Choice, choose } from './choice.ts';
import { PROFILES, type RuntimeProfile, type Viewpoint } from './runtimes.ts';

/** What is known of the container. What is left out is as the runtime makes it. */
export interface PodDetails {
  readonly containerID?: string | undefined;
  readonly netns?: string | undefined;
  readonly ifName?: string | undefined;
  readonly args?: CniArgs | undefined;
  readonly capabilityArgs?: JsonObject | undefined;
}

/** What to explain, and with what. */
export interface ExplainRequest {
  readonly directory: string;
  /** Whose ADD it is. */
  readonly against: Viewpoint;
  /** The network; the one that the runtime takes by itself when left out. */
  readonly network?: string | undefined;
  readonly pod?: PodDetails;
  readonly files: ReadFiles;
  readonly programs: Programs;
  /** The cache, where it is not the runtime's usual one. */
  readonly cacheDir?: string | undefined;
}

/** A program that a plugin runs itself. */
export interface ExplainedDelegate extends DelegateUse {
  readonly program: Program;
}

/** What becomes of a capability. */
export interface CapabilityUse {
  readonly name: string;
  /** `passed`: it gets the arguments. `none given`: it would, if there were any. `never passed`: not by this runtime. */
  readonly state: 'passed' | 'none given' | 'never passed';
}

/** A plugin of the chain. */
export interface ExplainedPlugin {
  readonly type: string;
  readonly program: Program;
  /** Whether it speaks the network's version; nothing when that is not known. */
  readonly speaksVersion?: boolean;
  readonly delegates: readonly ExplainedDelegate[];
  readonly capabilities: readonly CapabilityUse[];
  /** Its standard input, to the byte, but for `prevResult`. */
  readonly stdin: string;
  /** The plugin whose result it gets as `prevResult`; nothing for the first. */
  readonly prevResultFrom?: string;
}

/** The network that would be used. */
export interface ExplainedNetwork {
  readonly name: string;
  readonly list: NetworkConfigList;
  readonly file: string;
  /** The version in force. */
  readonly cniVersion: string;
  /** How that came about, as a sentence fragment. */
  readonly versionReason: string;
  /** The variables of the protocol; every plugin gets the same, beside those of the runtime's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly plugins: readonly ExplainedPlugin[];
  /** Given, and no plugin declares the capability. */
  readonly unclaimed: readonly string[];
  /** Given, and never passed by this runtime. */
  readonly withheld: readonly string[];
}

/** See the file's comment. */
export interface Explanation {
  readonly runtime: RuntimeProfile;
  readonly directory: string;
  readonly cacheDir: string;
  readonly choice: Choice;
  /** The network that was asked for; runtimes that take the first file do not listen. */
  readonly asked?: string;
  /** Nothing when the runtime finds none. */
  readonly network?: ExplainedNetwork;
  /** What the audit finds in the file, and in those that are in its way. */
  readonly findings: readonly Finding[];
}

/**
 * Explains. Nothing is changed, and nothing is started but VERSION of plugins.
 *
 * @throws {CniError} when the directory cannot be read
 * @example
 * const programs = systemPrograms({ directories: ['/opt/cni/bin'], env: {} });
 * const { network } = await explain({ directory: '/etc/cni/net.d', against: 'crio', files: nodeFiles, programs });
 */
export async function explain(request: ExplainRequest): Promise<Explanation> {
  const { directory, against, network, files, cacheDir } = request;
  const runtime = PROFILES[against];
  const choice = choose(files, directory, runtime, network);
  const list = choice.chosen?.list;
  return {
    ...{ runtime, directory, choice, cacheDir: cacheDir ?? runtime.cacheDir },
    ...(network !== undefined && { asked: network }),
    ...(list !== undefined && { network: await explainNetwork(request, runtime, list) }),
    findings: findingsOf(request, choice),
  };
}

async function explainNetwork(
  { pod = {}, programs }: ExplainRequest,
  runtime: RuntimeProfile,
  list: NetworkConfigList,
): Promise<ExplainedNetwork> {
  const { sends } = runtime;
  const given = pod.capabilityArgs ?? {};
  const isSent = (name: string) => sends?.includes(name) ?? true;
  const sent = Object.fromEntries(Object.entries(given).filter(([name]) => isSent(name)));
  const capabilityArgs = runtime.spell(sent);
  const plugins: ExplainedPlugin[] = [];
  for (const [index, plugin] of list.plugins.entries()) {
    const before = list.plugins[index - 1];
    plugins.push({
      ...(await explainPlugin(plugin, list, programs)),
      capabilities: enabled(plugin).map((name) => ({
        name,
        state: !isSent(name) ? 'never passed' : name in given ? 'passed' : 'none given',
      })),
      stdin: goJson(deriveStdin(list, plugin, { capabilityArgs })),
      ...(before !== undefined && { prevResultFrom: before.type }),
    });
  }
  const declared = new Set(list.plugins.flatMap(enabled));
  return {
    ...{ name: list.name, list, file: list.file ?? '', plugins },
    ...versionOf(list),
    env: environmentOf(runtime, pod, programs.directories),
    unclaimed: Object.keys(sent).filter((name) => !declared.has(name)),
    withheld: Object.keys(given).filter((name) => !isSent(name)),
  };
}

async function explainPlugin(
  plugin: PluginConfig,
  { cniVersion }: NetworkConfigList,
  programs: Programs,
): Promise<Pick<ExplainedPlugin, 'type' | 'program' | 'speaksVersion' | 'delegates'>> {
  const program = await programs.inspect(plugin.type);
  const delegates: ExplainedDelegate[] = [];
  for (const use of delegatesOf(plugin)) {
    delegates.push({ ...use, program: await programs.inspect(use.type) });
  }
  return {
    ...{ type: plugin.type, program, delegates },
    ...(program.versions !== undefined && {
      speaksVersion: program.versions.includes(cniVersion || OLDEST),
    }),
  };
}

/** What a network without a version has. */
const OLDEST = '0.1.0';

function versionOf({
  cniVersion,
  bytes,
}: NetworkConfigList): Pick<ExplainedNetwork, 'cniVersion' | 'versionReason'> {
  const written = JSON.parse(new TextDecoder().decode(bytes)) as JsonObject;
  const offered = written['cniVersions'];
  if (Array.isArray(offered)) {
    return { cniVersion, versionReason: `the newest of ${offered.join(', ')} that is known` };
  }
  if (cniVersion === '') return { cniVersion: OLDEST, versionReason: 'for the file names none' };
  return { cniVersion, versionReason: 'as the file says' };
}

function environmentOf(
  runtime: RuntimeProfile,
  pod: PodDetails,
  path: readonly string[],
): Readonly<Record<string, string>> {
  return pluginEnvironment(
    {},
    {
      ...{ command: 'ADD', path, args: pod.args ?? runtime.args },
      containerID: pod.containerID ?? runtime.containerID,
      netns: pod.netns ?? runtime.netns,
      ifName: pod.ifName ?? runtime.ifName,
    },
  );
}

function enabled({ capabilities }: PluginConfig): readonly string[] {
  return Object.keys(capabilities).filter((name) => capabilities[name] === true);
}

function findingsOf({ directory, files, against }: ExplainRequest, { candidates, chosen }: Choice) {
  const runtime: RuntimeName | undefined =
    against === 'heddle' ? undefined : against === 'kubelet' ? 'containerd' : against;
  const options = runtime === undefined ? {} : { against: runtime };
  const relevant = new Set(
    candidates.filter((each) => each === chosen || each.list === undefined).map(({ path }) => path),
  );
  return audit({ paths: [directory], files, options }).findings.filter(
    ({ place, severity }) =>
      place !== undefined &&
      relevant.has(place.file) &&
      (severity === 'error' || place.file === chosen?.path),
  );
}
