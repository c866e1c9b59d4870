/** What is behind failures of the reference's plugins: each was looked at, and is no artefact of the kit. */

/** An explanation for one check, or for a suite of one plugin. */
interface Explanation {
  /** All plugins when left out. */
  readonly plugins?: readonly string[];
  /** The id of a check, or its beginning. */
  readonly check: string;
  readonly text: string;
}

const EXPLANATIONS: readonly Explanation[] = [];

/** @throws {Error} for a failure that nobody has looked at */
export function explanationOf(plugin: string, id: string): string {
  const found = EXPLANATIONS.find(
    ({ plugins, check }) => id.startsWith(check) && (plugins?.includes(plugin) ?? true),
  );
  if (found !== undefined) return found.text;
  throw new Error(`${plugin} fails ${id}: look at it, and write down what is behind it`);
}
