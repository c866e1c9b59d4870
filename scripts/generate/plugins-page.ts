/** `docs/plugins.md`: what each plugin reads, of its configuration and elsewhere. */
import { CNI_VERSIONS } from '@heddle/cni';
import type { Plugin } from '@heddle/cni/plugin';
import { type JsonSchema, pluginSchema, sharedSchemas } from './json-schemas.ts';

/** The page as Markdown. */
export function pluginsPage(plugins: readonly Plugin[]): string {
  const parts = [
    INTRODUCTION,
    overview(plugins),
    SHARED_MEMBERS,
    ...sharedSections(),
    ...plugins.map(section),
  ];
  return `${parts.join('\n\n')}\n`;
}

const INTRODUCTION = `<!-- Made by scripts/generate.ts from the plugins. Change them, then run it. -->

# Plugins

The plugins that Heddle brings, by the \`type\` that configurations name them with. They do what the reference's plugins
of these names do, but for what [differences.md](differences.md) lists. Members that are not listed here are ignored,
and names match in any letter case, as in the reference.

An editor that knows JSON Schema helps to write configurations when a file names the schema in its first member:

\`\`\`json
{
  "$schema": "./node_modules/@heddle/plugins/schemas/conflist.json",
  "cniVersion": "1.1.0",
  "name": "podnet",
  "plugins": [{ "type": "bridge", "isGateway": true, "ipam": { "type": "host-local", "subnet": "10.1.0.0/16" } }]
}
\`\`\``;

const SHARED_MEMBERS = `## What several plugins read

In a list, \`cniVersion\` and \`name\` belong to the list. \`capabilities\` says what the runtime shall offer the plugin in
\`runtimeConfig\`, such as \`{ "portMappings": true }\`; which ones a plugin understands is listed above.`;

function overview(plugins: readonly Plugin[]): string {
  const rows = plugins.map((plugin) => [
    `[${plugin.type}](#${plugin.type})`,
    plugin.kind,
    plugin.about,
    codes(plugin.capabilities ?? []),
    codes(plugin.argKeys ?? []),
    versionWords(plugin),
    verbsOf(plugin),
  ]);
  return table(['plugin', 'kind', 'what for', 'capabilities', 'CNI_ARGS', 'versions', 'verbs'], rows);
}

function versionWords({ versions }: Plugin): string {
  const [first, last] = [versions[0], versions.at(-1)];
  return versions.length === CNI_VERSIONS.length ? 'all' : `${first} to ${last}`;
}

/** Those of the newest version that it speaks. */
function verbsOf({ versions }: Plugin): string {
  const isNew = versions.includes('1.1.0');
  return ['ADD', 'DEL', 'CHECK', ...(isNew ? ['GC', 'STATUS'] : []), 'VERSION'].join(', ');
}

function sharedSections(): readonly string[] {
  return Object.entries(sharedSchemas()).map(([name, schema]) =>
    [`### ${name}`, sentence(schema.description ?? ''), memberTable(schema)].join('\n\n'),
  );
}

function section(plugin: Plugin): string {
  const schema = pluginSchema(plugin);
  const members = Object.entries(schema.properties ?? {}).filter(([name]) => reads(plugin, name));
  const rows = memberTable({ ...schema, properties: Object.fromEntries(members) });
  const body = members.length === 0 ? 'It has no members of its own.' : rows;
  return [`## ${plugin.type}`, sentence(plugin.about), body].join('\n\n');
}

/** Whether a member is the plugin's own; others stand in its schema for the sake of editors. */
function reads({ config }: Plugin, member: string): boolean {
  const { entries = {} } = config as { readonly entries?: Readonly<Record<string, unknown>> };
  return Object.hasOwn(entries, member);
}

function memberTable(schema: JsonSchema): string {
  return table(['member', 'type', 'default', 'meaning'], membersOf(schema, ''));
}

/** A row for each member, and for those of the objects in it. */
function membersOf({ properties = {}, required = [] }: JsonSchema, prefix: string): readonly string[][] {
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const { inner, brackets } = innermost(member);
    const below = membersOf(inner, `${path}${brackets}.`);
    const meaning = member.description ?? shared(member)?.description;
    // An object that only holds others says nothing itself.
    if (meaning === undefined && below.length > 0) return below;
    const fallback = required.includes(name) ? 'required' : defaultWords(member.default);
    return [[`\`${path}\``, typeWords(member), fallback, meaning ?? ''], ...below];
  });
}

/** What a list, or a list of lists, is made of, and how to write that. */
function innermost(schema: JsonSchema): { readonly inner: JsonSchema; readonly brackets: string } {
  if (schema.items === undefined) return { inner: schema, brackets: '' };
  const { inner, brackets } = innermost(schema.items);
  return { inner, brackets: `[]${brackets}` };
}

function typeWords(schema: JsonSchema): string {
  const { title, items, minimum, maximum, type, additionalProperties } = schema;
  const name = sharedName(schema);
  if (name !== undefined) return `[${name}](#${name})`;
  if (title !== undefined) return title;
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum !== undefined) return choices(schema.enum);
  if (items !== undefined) return `list of ${plural(typeWords(items))}`;
  if (typeof additionalProperties === 'object') return `${plural(typeWords(additionalProperties))} by name`;
  if (minimum !== undefined && maximum !== undefined) return `${type}, ${minimum} to ${maximum}`;
  return minimum === undefined ? (type ?? 'anything') : `${type}, at least ${minimum}`;
}

function shared(schema: JsonSchema): JsonSchema | undefined {
  const name = sharedName(schema);
  return name === undefined ? undefined : sharedSchemas()[name];
}

function sharedName({ $ref }: JsonSchema): string | undefined {
  return $ref?.slice($ref.lastIndexOf('/') + 1);
}

function plural(words: string): string {
  if (words.startsWith('[')) return words;
  if (words.startsWith('list of ')) return words.replace(/^list/, 'lists');
  return words.startsWith('IP address') ? words.replace('address', 'addresses') : `${words}s`;
}

/** The values to choose from. An empty text only says that nothing is chosen, and letter case is no choice. */
function choices(values: readonly unknown[]): string {
  const byName = new Map(
    values.map((value) => [String(value).toLowerCase(), String(value)] as const).reverse(),
  );
  return codes([...byName.values()].reverse().filter((text) => text !== ''));
}

function defaultWords(value: unknown): string {
  const says =
    typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value !== '');
  return says ? `\`${value}\`` : '';
}

function codes(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(', ');
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
