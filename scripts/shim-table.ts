/** What the shim answers by itself, as a C header: exactly what the plugins would say. */
import { type Plugin, type PluginHost, serve } from '@heddle/cni/plugin';
import { PLUGINS } from '@heddle/plugins';

/** Where it is. */
export const SHIM_TABLE = 'native/shim/plugins.h';

/** The header's text. */
export async function shimTable(): Promise<string> {
  const entries: string[] = [];
  for (const plugin of PLUGINS.values()) entries.push(await entryOf(plugin));
  return `/* Made by scripts/write-shim-table.ts from the plugins; not to be edited. */

/* A plugin: its type, what it prints for VERSION, and what it says of itself when no command is given. */
struct plugin {
  const char *type, *version, *about;
};

static const struct plugin PLUGINS[] = {
${entries.join('\n')}
};
`;
}

async function entryOf(plugin: Plugin): Promise<string> {
  const version = await serve(plugin, { env: { CNI_COMMAND: 'VERSION' }, readStdin }, NOWHERE);
  const about = await serve(plugin, { env: {}, readStdin }, NOWHERE);
  // A JSON string of plain ASCII is a C string too.
  const texts = [plugin.type, version.stdout, about.stderr].map((text) => JSON.stringify(text));
  return `    {${texts.join(',\n     ')}},`;
}

const readStdin = () => new Uint8Array();

/** Neither answer needs any surroundings. */
const NOWHERE = {} as PluginHost;
