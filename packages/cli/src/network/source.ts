/** Where in its file a part of a network's configuration is written. */
import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonPath, locate, type NetworkConfigList, parseJson } from '@heddle/cni';

/** The text that a plugin's object is in, and the place of the object there. */
export interface PluginSource {
  readonly file: string;
  readonly text: string;
  readonly path: JsonPath;
}

/** The source of a network's plugin; `undefined` when that is not in the network's own file, or there is none. */
export function sourceOf(list: NetworkConfigList, index: number): PluginSource | undefined {
  const { file } = list;
  if (file === undefined) return undefined;
  // The bytes of a single plugin's list were made up.
  if (list.isSingle) return { file, text: readFileSync(file, 'utf8'), path: [] };
  const text = Buffer.from(list.bytes).toString('utf8');
  const json = parseJson(text);
  const inlined = isJsonObject(json) ? json['plugins'] : undefined;
  const isInlined = Array.isArray(inlined) && index < inlined.length;
  return isInlined ? { file, text, path: ['plugins', index] } : undefined;
}

/** The place of a part of it as messages write it: `file:line:column`. */
export function placeOf({ file, text, path }: PluginSource, part: JsonPath): string {
  const { line, column } = locate(text, [...path, ...part]);
  return `${file}:${line}:${column}`;
}

/** The parts of a JSON pointer (RFC 6901); what looks like a number is an index. */
export function pathOf(pointer: string): JsonPath {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
