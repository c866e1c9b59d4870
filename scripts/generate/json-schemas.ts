/**
 * JSON Schemas of configurations, for editors and other validators, made of the schemas that the plugins validate with.
 * They are somewhat stricter than the plugins: member names are in their own letter case.
 *
 * The files refer to each other, so they belong into one directory: `conflist.json` for lists, `plugin.json` for the
 * configuration of any plugin, one file for each plugin, and what these share in `common.json`.
 */
import { CNI_VERSIONS, dnsSchema, ipamSchema, pluginEntries, routeSchema } from '@heddle/cni';
import type { Plugin } from '@heddle/cni/plugin';
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';

/** A JSON Schema, as far as the generators look into it (draft 7). */
export interface JsonSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly [keyword: string]: unknown;
}

/** All schemas by the name of their file. */
export function jsonSchemas(plugins: readonly Plugin[]): ReadonlyMap<string, unknown> {
  const types = plugins.map(({ type }) => type);
  const files: readonly (readonly [string, JsonSchema])[] = [
    ['common.json', common(plugins)],
    ['conflist.json', conflist()],
    ['plugin.json', anyPlugin(types)],
    ...plugins.map((plugin) => [`${plugin.type}.json`, pluginSchema(plugin)] as const),
  ];
  return new Map(files.map(([name, schema]) => [name, withNulls(schema)]));
}

/** The schema of one plugin's configuration. That of an IPAM plugin is for the plugin that delegates to it. */
export function pluginSchema(plugin: Plugin): JsonSchema {
  const { type, about, capabilities = [] } = plugin;
  const own = convert(plugin.config);
  const isIpam = plugin.kind === 'ipam';
  const named = { const: type, description: about };
  const members = isIpam
    ? {
        ...own.properties,
        ipam: { ...own.properties?.['ipam'], ...withType(own.properties?.['ipam'], named) },
      }
    : { type: named, ...own.properties, ...without(COMMON_MEMBERS, own.properties) };
  const offered = Object.fromEntries(capabilities.map((name) => [name, { type: 'boolean' }]));
  return {
    ...HEAD,
    title: type,
    description: about,
    type: 'object',
    properties: {
      ...members,
      ...(capabilities.length > 0 && {
        capabilities: { ...(COMMON_MEMBERS['capabilities'] ?? {}), properties: offered },
      }),
    },
    required: [isIpam ? 'ipam' : 'type', ...(own.required ?? [])],
    ...(!isIpam && own.properties?.['ipam'] !== undefined && { allOf: [{ $ref: DELEGATION }] }),
  };
}

/** What the schemas of several plugins refer to, by name. */
export function sharedSchemas(): Readonly<Record<string, JsonSchema>> {
  return tidy(toJsonSchemaDefs(SHARED, OPTIONS)) as Readonly<Record<string, JsonSchema>>;
}

function common(plugins: readonly Plugin[]): JsonSchema {
  const ipam = plugins.filter(({ kind }) => kind === 'ipam');
  return {
    ...HEAD,
    description: 'what the configurations of several plugins have in common',
    $defs: {
      ...sharedSchemas(),
      delegation: {
        description: 'members that the plugin reads that gives the addresses',
        allOf: ipam.map(({ type }) => ({
          if: objectWith('ipam', objectWith('type', { const: type })),
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: { $ref: `${type}.json` },
        })),
      },
    },
  };
}

function anyPlugin(types: readonly string[]): JsonSchema {
  return {
    ...HEAD,
    title: 'CNI plugin configuration',
    type: 'object',
    properties: {
      type: {
        description: 'the plugin: the name of its program',
        type: 'string',
        pattern: '^[^/]+$',
        anyOf: [{ enum: types }, {}],
      },
      ...COMMON_MEMBERS,
    },
    required: ['type'],
    allOf: types.map((type) => ({
      if: objectWith('type', { const: type }),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `${type}.json` },
    })),
  };
}

function conflist(): JsonSchema {
  const flag = (description: string) => ({
    description,
    anyOf: [{ type: 'boolean' }, { type: 'string', pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$' }],
    default: false,
  });
  return {
    ...HEAD,
    title: 'CNI network configuration list',
    description: 'a network: plugins that run one after the other (specification 1.1.0, section 1)',
    type: 'object',
    properties: {
      ...{ cniVersion: COMMON_MEMBERS['cniVersion'] ?? {}, name: COMMON_MEMBERS['name'] ?? {} },
      cniVersions: {
        description: 'versions to choose the newest of that the runtime speaks, with cniVersion',
        type: 'array',
        items: { type: 'string', pattern: VERSION },
      },
      disableCheck: flag('whether CHECK is not to be used'),
      disableGC: flag('whether garbage collection is not to be used'),
      loadOnlyInlinedPlugins: flag(
        'whether plugins in the directory of this name, beside this file, are left out',
      ),
      plugins: {
        description: 'the plugins, in the order of ADD',
        ...{ type: 'array', items: { $ref: 'plugin.json' }, minItems: 1 },
      },
    },
    required: ['name'],
  };
}

const HEAD = { $schema: 'http://json-schema.org/draft-07/schema#' } as const;
const VERSION = '^[0-9]+\\.[0-9]+\\.[0-9]+$';
const DELEGATION = 'common.json#/$defs/delegation';
const SHARED = { dns: dnsSchema, ipam: ipamSchema, route: routeSchema };

const OPTIONS: Omit<ConversionConfig, 'definitions'> = {
  typeMode: 'input',
  errorMode: 'ignore',
  // Numbers of 64 bits are numbers in JSON all the same.
  overrideSchema: ({ valibotSchema }) =>
    valibotSchema.type === 'bigint' ? { type: 'integer', minimum: 0 } : undefined,
  overrideRef: ({ referenceId }) => `common.json#/$defs/${referenceId}`,
};

/** What any plugin's configuration may hold. */
const COMMON_MEMBERS: Readonly<Record<string, JsonSchema>> = {
  cniVersion: {
    description: 'the version of the specification; in a list, the list has it',
    type: 'string',
    anyOf: [{ enum: CNI_VERSIONS }, { pattern: VERSION }],
  },
  name: {
    description: "the network's name; in a list, the list has it",
    ...{ type: 'string', pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.\\-]*$' },
  },
  capabilities: {
    description: 'what the runtime shall offer in runtimeConfig',
    ...{ type: 'object', additionalProperties: { type: 'boolean' } },
  },
  ipam: convert(v.object({ ipam: pluginEntries.ipam })).properties?.['ipam'] ?? {},
  dns: convert(v.object({ dns: pluginEntries.dns })).properties?.['dns'] ?? {},
};

function convert(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, $defs: __, ...own } = toJsonSchema(schema, { ...OPTIONS, definitions: SHARED });
  return tidy(own) as JsonSchema;
}

/** An IPAM plugin is chosen by the `type` of the `ipam` object. */
function withType(ipam: JsonSchema | undefined, type: JsonSchema): JsonSchema {
  return { properties: { type, ...ipam?.properties }, required: ['type', ...(ipam?.required ?? [])] };
}

function objectWith(member: string, schema: JsonSchema): JsonSchema {
  return { type: 'object', properties: { [member]: schema }, required: [member] };
}

/** The same, where a member that need not be set may be null, which counts as not set. */
function withNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNulls);
  if (typeof value !== 'object' || value === null) return value;
  const { properties, required = [] } = value as JsonSchema;
  const same = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withNulls(member)]));
  if (properties === undefined) return same;
  const members = Object.entries(properties).map(([name, member]) => {
    const schema = withNulls(member) as JsonSchema;
    return [name, required.includes(name) ? schema : orNull(schema)];
  });
  return { ...same, properties: Object.fromEntries(members) };
}

function orNull(schema: JsonSchema): object {
  const { type, enum: values, anyOf, description, ...others } = schema;
  const words = description === undefined ? {} : { description };
  if (['$ref', 'allOf', 'const', 'not'].some((keyword) => Object.hasOwn(schema, keyword))) {
    const { description: _, ...constraints } = schema;
    return { ...words, anyOf: [constraints, NULL] };
  }
  return {
    ...words,
    ...(type !== undefined && { type: [type, 'null'] }),
    ...(values !== undefined && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...anyOf, NULL] }),
    ...others,
  };
}

const NULL = { type: 'null' } as const;

/** The same without keywords that say nothing. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !saysNothing(key, member))
      .map(([key, member]) => [key, tidy(member)]),
  );
}

function saysNothing(keyword: string, value: unknown): boolean {
  if (keyword === 'required') return Array.isArray(value) && value.length === 0;
  if (keyword === 'minimum') return value === Number.MIN_SAFE_INTEGER;
  return keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER;
}

function without<T extends object>(members: T, others: object = {}): Partial<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([key]) => !Object.hasOwn(others, key)),
  ) as Partial<T>;
}
