/** Calls of a network's plugins as a runtime makes them. */
import {
  atLeast,
  deriveStdin,
  type JsonObject,
  type JsonValue,
  type NetworkConfigList,
  type PluginConfig,
  prevResultFor,
} from '@heddle/cni';
import { type Contender, NODE_ENVIRONMENT, programOf } from './contender.ts';
import { type Job, podPath, type Step } from './node.ts';

/** What is measured of a pod, in the order in which it happens. */
export const VERBS = ['VERSION', 'ADD', 'CHECK', 'DEL'] as const;

/** See {@link VERBS}. */
export type Verb = (typeof VERBS)[number];

/** A pod that is attached, or was. */
export interface Pod {
  readonly name: string;
  readonly containerID: string;
  readonly capabilityArgs: Readonly<Record<string, JsonValue>>;
  /** What ADD has printed. */
  result: JsonObject | undefined;
}

/** The interface of every pod. */
export const IF_NAME = 'eth0';

/** Whether a network's plugins have this verb. */
export function hasVerb({ cniVersion, disableCheck }: NetworkConfigList, verb: Verb): boolean {
  return verb !== 'CHECK' || (!disableCheck && atLeast(cniVersion || '0.1.0', '0.4.0'));
}

/** The types of plugins that a network names, those of address management included. */
export function typesOf({ plugins }: NetworkConfigList): readonly string[] {
  return [
    ...new Set(plugins.flatMap(({ type, ipamType }) => (ipamType === undefined ? [type] : [type, ipamType]))),
  ];
}

/** The plugins that a verb calls, in its order. */
export function calledPlugins({ plugins }: NetworkConfigList, verb: Verb): readonly PluginConfig[] {
  return verb === 'DEL' ? plugins.toReversed() : plugins;
}

/**
 * All calls of one verb for one pod.
 *
 * @param probes addresses that must hear of the pod after ADD
 */
export function jobFor(
  list: NetworkConfigList,
  contender: Contender,
  { verb, pod, probes }: { readonly verb: Verb; readonly pod: Pod; readonly probes: readonly string[] },
): Job {
  const steps = calledPlugins(list, verb).map((plugin, index): Step => {
    const program = programOf(contender, plugin.type);
    if (verb === 'VERSION') {
      const env = { ...NODE_ENVIRONMENT, CNI_COMMAND: verb };
      return { program, env, input: JSON.stringify({ cniVersion: list.cniVersion }) };
    }
    return {
      program,
      env: {
        ...NODE_ENVIRONMENT,
        CNI_COMMAND: verb,
        CNI_CONTAINERID: pod.containerID,
        CNI_NETNS: podPath(pod.name),
        CNI_IFNAME: IF_NAME,
        CNI_ARGS: '',
        CNI_PATH: contender.directory,
      },
      input: inputOf(list, plugin, { verb, pod, isFirst: index === 0 }),
    };
  });
  return {
    pod: verb === 'VERSION' ? undefined : pod.name,
    ...{ ifName: IF_NAME, steps, probes: verb === 'ADD' ? probes : [] },
  };
}

function inputOf(
  list: NetworkConfigList,
  plugin: PluginConfig,
  { verb, pod, isFirst }: { readonly verb: Verb; readonly pod: Pod; readonly isFirst: boolean },
): Step['input'] {
  const { capabilityArgs, result } = pod;
  const source = prevResultFor(verb, list.cniVersion || '0.1.0');
  const fromCache = source === 'cache' && result !== undefined;
  const config = deriveStdin(list, plugin, { capabilityArgs, ...(fromCache && { prevResult: result }) });
  const text = JSON.stringify(config);
  return source === 'previous plugin' && !isFirst ? [`${text.slice(0, -1)},"prevResult":`, '}'] : text;
}
