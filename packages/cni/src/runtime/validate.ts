/** Whether a network can be used: every plugin is there and speaks the network's version. */
import { ErrorList } from '@heddle/errors';
import {
  CNI_CODE,
  CniError,
  compareVersions,
  isCniVersion,
  type PluginConfig,
  toCniError,
} from '../index.ts';
import type { CallOptions, RuntimeContext } from './context.ts';
import type { Chain } from './network.ts';
import type { Environment } from './plugin-environment.ts';
import { type PluginVersions, probeVersions } from './plugin-versions.ts';
import { messageOf } from './wrap-error.ts';

/**
 * Asks every plugin for its versions.
 *
 * A plugin that fails VERSION is not held against the network: that is a warning with the plugin's own text,
 * and it will refuse the version itself if it must. One that succeeds and answers nonsense is an error.
 *
 * @returns the names of the capabilities that the plugins declare.
 * @throws {CniError} that names every plugin that is missing or does not speak the version.
 */
export async function validateChain(
  context: RuntimeContext,
  chain: Chain,
  env: Environment,
  options: CallOptions = {},
): Promise<ReadonlySet<string>> {
  const problems: CniError[] = [];
  const known: PluginVersions[] = [];
  for (const plugin of chain.plugins) {
    try {
      const versions = await probeVersions(context, plugin.type, env, options);
      if ('unknown' in versions) {
        const { type, path, unknown } = versions;
        context.onWarning(`plugin "${type}" (${path}) does not tell its versions: ${messageOf(unknown)}`);
      } else {
        known.push(versions);
        if (!supports(versions, chain)) problems.push(unsupported(plugin, chain, versions));
      }
    } catch (error) {
      problems.push(toCniError(error));
    }
  }
  throwProblems(chain, problems, known);
  return new Set(chain.plugins.flatMap(enabledCapabilities));
}

function supports({ supportedVersions }: PluginVersions, { cniVersion }: Chain): boolean {
  return supportedVersions.includes(cniVersion || '0.1.0');
}

function unsupported(
  { type }: PluginConfig,
  { cniVersion }: Chain,
  { path, supportedVersions }: PluginVersions,
): CniError {
  const msg = `plugin ${type} does not support config version "${cniVersion}"`;
  return new CniError(CNI_CODE.INCOMPATIBLE_VERSION, msg, {
    cniDetails: `${path} supports [${supportedVersions.join(' ')}]`,
  });
}

function throwProblems(chain: Chain, problems: readonly CniError[], known: readonly PluginVersions[]): void {
  const [first] = problems;
  if (first === undefined) return;
  if (chain.isSingle) throw first;
  const common = known.length === chain.plugins.length ? commonVersion(known) : undefined;
  const details = [
    ...problems.flatMap(({ cniDetails }) => cniDetails ?? []),
    ...(common === undefined ? [] : [`the highest version that all plugins support is ${common}`]),
  ];
  const codes = new Set(problems.map(({ cniCode }) => cniCode));
  throw new CniError(
    codes.size === 1 ? first.cniCode : CNI_CODE.SEVERAL,
    `[${problems.map(({ msg }) => msg).join(' ')}]`,
    {
      cause: new ErrorList(`validate network "${chain.name}"`, problems),
      ...(details.length > 0 && { cniDetails: details.join('; ') }),
      details: { plugins: known },
    },
  );
}

function commonVersion([first, ...rest]: readonly PluginVersions[]): string | undefined {
  return first?.supportedVersions
    .filter(isCniVersion)
    .filter((version) => rest.every(({ supportedVersions }) => supportedVersions.includes(version)))
    .toSorted(compareVersions)
    .at(-1);
}

function enabledCapabilities({ capabilities }: PluginConfig): readonly string[] {
  return Object.keys(capabilities).filter((name) => capabilities[name] === true);
}
