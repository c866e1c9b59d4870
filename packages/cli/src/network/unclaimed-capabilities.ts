/** Capability arguments that no plugin of a network gets: they are dropped without a word otherwise. */
import { closest, type JsonObject, type NetworkConfigList } from '@heddle/cni';
import { PLUGINS } from '@heddle/plugins';

/** A sentence for each argument that no plugin declares. */
export function unclaimedCapabilities(
  { name, plugins }: NetworkConfigList,
  capabilityArgs: JsonObject,
): readonly string[] {
  const declared = plugins.flatMap(({ capabilities }) =>
    Object.keys(capabilities).filter((each) => capabilities[each] === true),
  );
  return Object.keys(capabilityArgs)
    .filter((capability) => !declared.includes(capability))
    .map((capability) => {
      const able = plugins.map(({ type }) => type).filter((type) => understands(type, capability));
      const known = [...declared, ...[...PLUGINS.values()].flatMap(({ capabilities = [] }) => capabilities)];
      const meant = closest(capability, known);
      const why =
        able.length > 0
          ? ` (is "capabilities" missing in ${able.join(' or ')}?)`
          : meant === undefined || meant === capability
            ? ''
            : `; did you mean "${meant}"?`;
      return `nothing on ${name} takes ${capability}${why}`;
    });
}

function understands(type: string, capability: string): boolean {
  return PLUGINS.get(type)?.capabilities?.includes(capability) ?? false;
}
