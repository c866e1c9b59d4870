/** The code blocks of a Markdown text that say which file they are: `` ```ts file=plugin.ts ``. */
export function codeBlocks(markdown: string): ReadonlyMap<string, string> {
  const blocks = markdown.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm);
  return new Map(Array.from(blocks, ([, name = '', text = '']) => [name, text]));
}
