/** What a plugin reads of its configuration, and what its values may be. */
import { closest, type JsonPath, unknownKeys } from '@heddle/cni';
import { type AuditRule, type Discovery, partRule } from '../audit-rule.ts';
import type { Members } from '../known/known-plugin.ts';
import { KNOWN_PLUGINS, schemaOf } from '../known/known-plugins.ts';
import { COMMON_MEMBERS, isOfType, knowsMember, TYPE_WORDS } from '../known/members.ts';
import type { PluginPart } from '../model/network.ts';
import { pathOf, problemsOf } from './schema-problems.ts';

const unknownMember = partRule({
  id: 'schema/unknown-member',
  title: 'A member that the plugin does not know',
  severity: 'warning',
  explains:
    'Plugins pass over what they do not know, so a misspelled member is as good as absent. Of the plugins of the reference suite every unknown member is told of; of other known plugins only one that looks like a misspelling, for it may be newer than what is known here. Remarks (`_comment`, `//`) are let be.',
  *check(part) {
    for (const { path, key, meant, type } of unknownOf(part)) {
      yield {
        place: part.document.keyPlace([...path, key]),
        what: `${type} does not know "${key}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
        consequence: 'It has no effect: the plugin works as if it were not there.',
        remedy: meant === undefined ? 'Remove it, or move it to where it is read.' : `Write "${meant}".`,
      };
    }
  },
});

const wrongType = partRule({
  id: 'schema/wrong-type',
  title: 'A value of the wrong type',
  severity: 'error',
  explains:
    'A number in quotes, a text where a list must be, `"true"` for `true`: the plugin cannot decode its configuration and fails each time it is called.',
  *check(part) {
    for (const problem of problemsOf(part)) {
      if (problem.kind === 'type') yield problem.discovery;
    }
    yield* foreignTypes(part);
  },
});

const invalidValue = partRule({
  id: 'schema/invalid-value',
  title: 'A value that the plugin refuses',
  severity: 'error',
  explains:
    'A number out of range, a text that is no address, a mode that does not exist: the plugin refuses its configuration.',
  *check(part) {
    for (const problem of problemsOf(part)) {
      if (problem.kind === 'value') yield problem.discovery;
    }
  },
});

const missingMember = partRule({
  id: 'schema/missing-member',
  title: 'A member that the plugin needs',
  severity: 'error',
  explains: 'The plugin has no default for the member and refuses a configuration without it.',
  *check(part) {
    for (const problem of problemsOf(part)) {
      if (problem.kind === 'missing') yield problem.discovery;
    }
  },
});

/** Rules on members and values, the likeliest first. */
export const SCHEMA_RULES: readonly AuditRule[] = [wrongType, invalidValue, missingMember, unknownMember];

interface Unknown {
  readonly type: string;
  readonly path: JsonPath;
  readonly key: string;
  readonly meant?: string | undefined;
}

function unknownOf(part: PluginPart): readonly Unknown[] {
  const { type, ipamType, raw, path, ipam, ipamPath, known } = part;
  const schema = type === undefined ? undefined : schemaOf(type);
  const own: readonly Unknown[] =
    schema === undefined || type === undefined
      ? foreignUnknown(type, known?.members, raw, path)
      : unknownKeys(schema, withoutCommon(raw))
          .map(({ pointer, key, suggestion }) => ({
            type,
            path: [...path, ...pathOf(pointer)],
            key,
            meant: suggestion,
          }))
          .filter(({ path: at, key }) => !isCommon(at.length > path.length ? String(at[path.length]) : key))
          .map((each) => ({
            ...each,
            meant:
              each.meant ??
              (each.path.length === path.length ? closest(each.key, COMMON_MEMBERS) : undefined),
          }));
  const ipamSchema = ipamType === undefined ? undefined : schemaOf(ipamType);
  const rewrites = known?.addresses === 'own';
  const ofIpam: readonly Unknown[] =
    ipamType === undefined || ipam === undefined || rewrites
      ? []
      : ipamSchema === undefined
        ? foreignUnknown(ipamType, KNOWN_PLUGINS.get(ipamType)?.ipamMembers, ipam, ipamPath)
        : unknownKeys(ipamSchema, { ipam })
            .filter(
              ({ pointer, key }) => pathOf(pointer)[0] === 'ipam' && !(pointer === '/ipam' && key === 'type'),
            )
            .map(({ pointer, key, suggestion }) => ({
              ...{ type: ipamType, key, meant: suggestion },
              path: [...ipamPath, ...pathOf(pointer).slice(1)],
            }));
  // A plugin that fills in its ipam object may have members there that the IPAM plugin itself never sees.
  const told = known?.addresses === 'filled' ? ofIpam.filter(({ meant }) => meant !== undefined) : ofIpam;
  return [...own, ...told].filter(({ key }) => !isRemark(key) && !isEnvironment(key));
}

function foreignUnknown(
  type: string | undefined,
  members: Members | undefined,
  object: PluginPart['raw'],
  path: JsonPath,
): readonly Unknown[] {
  if (type === undefined || members === undefined) return [];
  const names = [...Object.keys(members), ...COMMON_MEMBERS, 'type'];
  return Object.keys(object)
    .filter((key) => !names.some((name) => name.toLowerCase() === key.toLowerCase()))
    .map((key) => ({ type, path, key, meant: closest(key, names) }))
    .filter(({ meant }) => meant !== undefined);
}

function* foreignTypes({
  type,
  raw,
  known,
  path,
  document,
  ipam,
  ipamType,
  ipamPath,
}: PluginPart): Iterable<Discovery> {
  const ipamMembers = ipamType === undefined ? undefined : KNOWN_PLUGINS.get(ipamType)?.ipamMembers;
  const looks = [
    { of: type, object: raw, members: known?.members, at: path },
    { of: ipamType, object: ipam, members: ipamMembers, at: ipamPath },
  ];
  for (const { of, object = {}, members = {}, at } of looks) {
    for (const [key, value] of Object.entries(object)) {
      const wanted = Object.entries(members).find(([name]) => name.toLowerCase() === key.toLowerCase())?.[1];
      if (wanted === undefined || isOfType(value, wanted)) continue;
      yield {
        severity: 'warning',
        place: document.place([...at, key]),
        what: `${key}: ${of} expects ${TYPE_WORDS[wanted]}`,
        consequence: 'The plugin probably cannot decode its configuration and fails each time it is called.',
        remedy: `Write ${TYPE_WORDS[wanted]}.`,
      };
    }
  }
}

/** Looking for what a common member may have been meant to be is in vain, and long. */
function withoutCommon(raw: PluginPart['raw']): PluginPart['raw'] {
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !isPlainlyCommon(name)));
}

function isPlainlyCommon(name: string): boolean {
  return COMMON_MEMBERS.includes(name) && name !== 'runtimeConfig' && name !== 'args';
}

function isCommon(name: string): boolean {
  return COMMON_MEMBERS.some((common) => common.toLowerCase() === name.toLowerCase());
}

function isRemark(key: string): boolean {
  return /^([_#/$].*|comment|description|documentation|.*\/.*)$/i.test(key);
}

/** Told by a rule of its own. */
function isEnvironment(key: string): boolean {
  return (
    /^(container(id)?|netns|ifname|command|sandbox|prevresult|cni_.*)$/i.test(key) &&
    !knowsMember('egress-cni', key)
  );
}
