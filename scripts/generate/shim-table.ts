/** What the shim answers by itself, as a C header: exactly what the plugins would say. */
import { aboutText, type Plugin, versionJson } from '@heddle/cni/plugin';

/** The header for `native/shim/shim.c`. */
export function shimTable(plugins: readonly Plugin[]): string {
  return `/* Made by \`npm run generate\` from the plugins; not to be edited. */

/* A plugin: its type, what it prints for VERSION, and what it says of itself when no command is given. */
struct plugin {
  const char *type, *version, *about;
};

static const struct plugin PLUGINS[] = {
${plugins.map(entryOf).join('\n')}
};
`;
}

function entryOf(plugin: Plugin): string {
  // A JSON string of plain ASCII is a C string too.
  const texts = [plugin.type, `${versionJson(plugin)}\n`, aboutText(plugin)].map((text) =>
    JSON.stringify(text),
  );
  return `    {${texts.join(',\n     ')}},`;
}
