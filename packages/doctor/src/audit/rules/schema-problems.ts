/** What the schemas of the reference suite say of a configuration, with places. */
import { ConfigError, decodeConfig, type JsonPath, type JsonValue } from '@heddle/cni';
import type { Discovery } from '../audit-rule.ts';
import { beyondLimits } from '../known/declared-limits.ts';
import { schemaOf } from '../known/known-plugins.ts';
import { kindOf } from '../known/members.ts';
import type { PluginPart } from '../model/network.ts';

/** A value that a plugin refuses. */
export interface Problem {
  readonly kind: 'type' | 'value' | 'missing';
  readonly discovery: Discovery;
}

/** What the schemas of the reference suite say of a plugin and of its delegate. */
export function problemsOf(part: PluginPart): readonly Problem[] {
  return part.document.memo.once(part, judge);
}

function judge({
  type,
  raw,
  path,
  ipamType,
  ipam,
  ipamPath,
  known,
  document,
}: PluginPart): readonly Problem[] {
  const looks = [
    ...(type === undefined ? [] : [{ of: type, value: raw, at: path }]),
    // A delegate sees the file's own text only when nobody fills in or replaces it.
    ...(ipamType === undefined ||
    ipam === undefined ||
    (known !== undefined && known.addresses !== 'delegate')
      ? []
      : [{ of: ipamType, value: ipamView(raw, ipam), at: ipamPath.slice(0, -1) }]),
  ];
  return looks.flatMap(({ of, value, at }) => {
    const schema = schemaOf(of);
    if (schema === undefined) return [];
    const refused = refusals(schema, value).map(({ pointer, text }) => ({ path: pathOf(pointer), text }));
    const beyond = beyondLimits(schema, value as JsonValue).filter(
      ({ path: limit }) => !refused.some((each) => each.path.join('/') === limit.join('/')),
    );
    return [...refused, ...beyond].map(({ path: inside, text }): Problem => {
      const where = [...at, ...inside];
      const present = valueAt(value, inside);
      const kind = present === undefined ? 'missing' : isWrongType(text, present) ? 'type' : 'value';
      return {
        kind,
        discovery: {
          place: document.place(where),
          what: `${of}: ${text}`,
          // The reference's firewall takes any unknown backend for none.
          ...(of === 'firewall' && inside[0] === 'backend' && { severity: 'warning' as const }),
          consequence: `${of} refuses its configuration: every attachment fails.`,
          remedy: kind === 'missing' ? 'Add it.' : expected(text),
        },
      };
    });
  });
}

/** What an IPAM plugin reads of the whole object. */
function ipamView({ args, runtimeConfig }: PluginPart['raw'], ipam: JsonValue): PluginPart['raw'] {
  return { ipam, ...(args !== undefined && { args }), ...(runtimeConfig !== undefined && { runtimeConfig }) };
}

function refusals(schema: NonNullable<ReturnType<typeof schemaOf>>, value: object) {
  try {
    decodeConfig(schema, value);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return (error.details?.['problems'] ?? []) as readonly {
      readonly pointer: string;
      readonly text: string;
    }[];
  }
}

function isWrongType(text: string, value: JsonValue): boolean {
  const [, wanted] =
    /expected (a string|true or false|a list|an object|a number|an integer)/.exec(text) ?? [];
  const kinds: Readonly<Record<string, string>> = {
    ...{ 'a string': 'text', 'true or false': 'flag', 'a list': 'list', 'an object': 'object' },
    ...{ 'a number': 'number', 'an integer': 'number' },
  };
  return wanted !== undefined && kinds[wanted] !== kindOf(value);
}

function expected(text: string): string {
  const [, wanted] = /expected (.*), got /.exec(text) ?? [];
  return wanted === undefined ? 'Write a value that the plugin accepts.' : `Write ${wanted}.`;
}

function valueAt(value: unknown, path: JsonPath): JsonValue | undefined {
  let at = value as JsonValue | undefined;
  for (const part of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    const members = at as Readonly<Record<string | number, JsonValue>>;
    const key = Object.keys(members).findLast((each) => each.toLowerCase() === String(part).toLowerCase());
    at = key === undefined ? undefined : members[key];
  }
  return at;
}

/** The parts of a JSON pointer (RFC 6901); what looks like a number is an index. */
export function pathOf(pointer: string): JsonPath {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
