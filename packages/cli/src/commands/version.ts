import { CNI_VERSIONS, type NetworkConfigList } from '@heddle/cni';
import type { Runtime } from '@heddle/cni/runtime';
import { PLUGINS } from '@heddle/plugins';
import { type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { emit } from '../output/emit.ts';
import { formatFacts, formatTable } from '../output/table.ts';
import { networkOf, RUNTIME_FLAGS, type RuntimeFlags, runtimeOf } from '../request/runtime.ts';
import { HEDDLE_VERSION } from '../version.ts';

/** `heddle version`: VERSION. */
export const versionCommand = defineCommand<CommonFlags & RuntimeFlags, [string | undefined]>({
  name: 'version',
  group: 'Set up this node',
  brief: 'show the version of heddle, or those that the plugins of a network speak',
  about: [
    'Without an argument: the version of this program, and the versions of the specification that it speaks.',
    'With NETWORK: asks every plugin of it, address management included, which versions it speaks. Fails when one does ' +
      'not speak the version of the network.',
  ],
  examples: [
    { command: 'heddle version podnet', what: 'shows where the plugins of podnet are and what they speak' },
    { command: 'heddle version', what: 'shows what this program is' },
  ],
  usage: '[network]',
  json: `// without NETWORK
interface Output {
  heddle: string;
  cniVersions: string[];
  plugins: string[];
}

// with NETWORK
interface NetworkOutput {
  network: string;
  cniVersion: string;
  plugins: {
    type: string;
    path: string | null;
    supportedVersions: string[];
    speaksNetwork: boolean;
    problem: string | null;
  }[];
}`,
  parameters: {
    flags: RUNTIME_FLAGS,
    positional: {
      kind: 'tuple',
      parameters: [{ placeholder: 'network', parse: String, brief: 'name of the network', optional: true }],
    },
  },
  async run(cli, flags, network) {
    if (network === undefined) {
      const plugins = [...PLUGINS.keys()].toSorted();
      emit(
        cli,
        flags,
        () => ({ heddle: HEDDLE_VERSION, cniVersions: CNI_VERSIONS, plugins }),
        (styled) =>
          formatFacts(
            [
              ['heddle', HEDDLE_VERSION],
              ['CNI', CNI_VERSIONS.join(', ')],
              ['plugins', plugins.join(', ')],
            ],
            styled,
          ),
      );
      return undefined;
    }
    const list = networkOf(cli, network);
    const cniVersion = list.cniVersion || '0.1.0';
    const plugins = await askAll(runtimeOf(cli, flags), list, cniVersion);
    emit(
      cli,
      flags,
      () => ({ network, cniVersion, plugins }),
      (styled) => formatTable(COLUMNS, plugins, styled),
    );
    return plugins.every(({ speaksNetwork }) => speaksNetwork) ? EXIT.OK : EXIT.FAILED;
  },
});

interface PluginAnswer {
  readonly type: string;
  readonly path: string | null;
  readonly supportedVersions: readonly string[];
  readonly speaksNetwork: boolean;
  readonly problem: string | null;
}

const COLUMNS = [
  { title: 'PLUGIN', value: ({ type }: PluginAnswer) => type },
  {
    title: 'SPEAKS',
    value: ({ supportedVersions, problem }: PluginAnswer) => problem ?? supportedVersions.join(' '),
  },
  { title: 'FITS', value: ({ speaksNetwork }: PluginAnswer) => (speaksNetwork ? 'yes' : 'no') },
  { title: 'PATH', value: ({ path }: PluginAnswer) => path ?? '' },
];

async function askAll(
  runtime: Runtime,
  list: NetworkConfigList,
  wanted: string,
): Promise<readonly PluginAnswer[]> {
  const types = list.plugins.flatMap(({ type, ipamType }) =>
    ipamType === undefined ? [type] : [type, ipamType],
  );
  const answers: PluginAnswer[] = [];
  for (const type of new Set(types)) answers.push(await ask(runtime, type, wanted));
  return answers;
}

async function ask(runtime: Runtime, type: string, wanted: string): Promise<PluginAnswer> {
  try {
    const answer = await runtime.version(type);
    if ('unknown' in answer) {
      const { path, unknown } = answer;
      return { type, path, supportedVersions: [], speaksNetwork: false, problem: unknown.message };
    }
    const { path, supportedVersions } = answer;
    return {
      type,
      path,
      supportedVersions,
      speaksNetwork: supportedVersions.includes(wanted),
      problem: null,
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { type, path: null, supportedVersions: [], speaksNetwork: false, problem };
  }
}
