/** What the text of a report says, to somebody who has nothing else. */

/** One finding, as a reader of the text has it. */
export interface Told {
  readonly id: string;
  readonly remedy: string;
  /** What is printed to be typed. */
  readonly commands: readonly string[];
}

/** The findings of a report, in its order. */
export function findingsIn(text: string): readonly Told[] {
  const blocks = text.split(/^ {2}(?=(?:error|warning|note) )/m).slice(1);
  return blocks.map((block) => {
    const lines = block.split('\n');
    const start = lines.findIndex((line) => line.startsWith('    to mend: '));
    const words = [lines[start]?.slice(13) ?? ''];
    for (const line of lines.slice(start + 1)) {
      if (!line.startsWith(' '.repeat(13))) break;
      words.push(line.trim());
    }
    return {
      id: /\[([\w/-]+)\]$/m.exec(block)?.[1] ?? '',
      remedy: words.join(' '),
      commands: lines.flatMap((line) => /^ {6}\$ (.*)$/.exec(line)?.[1] ?? []),
    };
  });
}
