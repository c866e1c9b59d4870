/**
 * Members of plugins' configurations that have no effect. Plugins ignore what they do not know, as the reference's
 * do, so only the operator's command can tell of a misspelled one.
 */
import {
  closest,
  type NetworkConfigList,
  type PluginConfig,
  pluginEntries,
  type UnknownKey,
  unknownKeys,
} from '@heddle/cni';
import { PLUGINS } from '@heddle/plugins';
import { pathOf, placeOf, sourceOf } from './source.ts';

/** A sentence for each member that Heddle's plugin of that type does not know; nothing of other plugins. */
export function unknownMembers(list: NetworkConfigList): readonly string[] {
  return list.plugins.flatMap((plugin, index) => {
    const source = sourceOf(list, index);
    return unknownTo(plugin).map(({ type, pointer, key, suggestion }) => {
      const place = source === undefined ? '' : `${placeOf(source, [...pathOf(pointer), key])}: `;
      const meant = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
      return `${place}${type} does not know "${key}"${meant}`;
    });
  });
}

interface UnknownMember extends UnknownKey {
  /** The plugin that does not know it. */
  readonly type: string;
}

/** What every plugin's configuration may have: for the runtime, or for labels of others. */
const COMMON: readonly string[] = [...Object.keys(pluginEntries), 'args', 'runtimeConfig'];

function unknownTo({ type, ipamType, raw }: PluginConfig): readonly UnknownMember[] {
  const config = PLUGINS.get(type)?.config;
  const own = config === undefined ? [] : unknownKeys(config, raw).filter(isOfPlugin);
  const ipamConfig = ipamType === undefined ? undefined : PLUGINS.get(ipamType)?.config;
  const ofIpam =
    ipamConfig === undefined || ipamType === undefined
      ? []
      : unknownKeys(ipamConfig, raw)
          .filter(isOfIpam)
          .map((each) => ({ ...each, type: ipamType }));
  return [...own.map((each) => ({ ...suggesting(each), type })), ...ofIpam].filter(
    ({ key }) => !isRemark(key),
  );
}

function isOfPlugin({ pointer, key }: UnknownKey): boolean {
  const [top = key] = pathOf(pointer);
  return !COMMON.some((common) => common.toLowerCase() === String(top).toLowerCase());
}

function isOfIpam({ pointer, key }: UnknownKey): boolean {
  return pathOf(pointer)[0] === 'ipam' && !(pointer === '/ipam' && key === 'type');
}

function suggesting(unknown: UnknownKey): UnknownKey {
  const suggestion =
    unknown.suggestion ?? (unknown.pointer === '' ? closest(unknown.key, COMMON) : undefined);
  return suggestion === undefined ? unknown : { ...unknown, suggestion };
}

/** People write remarks as members such as `_comment` or `Documentation`; names with a domain are another program's. */
function isRemark(key: string): boolean {
  return /^([_#/].*|comment|description|documentation|.*\/.*)$/i.test(key);
}
