/** Finds members that an object of a JSON text has more than once: a parser shows only the last of them. */

/**
 * The names that the object at `path` has more than once. Names of the path match in any letter case.
 *
 * @param text valid JSON
 * @example repeatedMembers('{"a": {"b": 1, "c": 2, "b": 3}}', ['a']) // ['b']
 */
export function repeatedMembers(text: string, path: readonly string[]): readonly string[] {
  const repeated: string[] = [];
  const open: Level[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const level = open.at(-1);
    if (token === '{') open.push({ names: new Set(), expectsName: true });
    else if (token === '[') open.push({ expectsName: false });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && level !== undefined) level.expectsName = level.names !== undefined;
    else if (level?.names !== undefined && level.expectsName) {
      const name = String(JSON.parse(token));
      if (level.names.has(name) && leadsTo(open, path)) repeated.push(name);
      level.names.add(name);
      level.name = name;
      level.expectsName = false;
    }
  }
  return repeated;
}

/** An object or a list that is not closed yet. */
interface Level {
  /** The names of an object so far; a list has none. */
  readonly names?: Set<string>;
  /** The member that is being read. */
  name?: string;
  expectsName: boolean;
}

function leadsTo(open: readonly Level[], path: readonly string[]): boolean {
  const above = open.slice(0, -1);
  return (
    above.length === path.length &&
    above.every(({ name }, index) => name?.toLowerCase() === path[index]?.toLowerCase())
  );
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;
