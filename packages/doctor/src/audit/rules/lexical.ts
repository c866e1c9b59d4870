/** The parts of a text that other languages allow and JSON does not. */
import { createScanner } from 'jsonc-parser';

/** Kinds of tokens, as jsonc-parser numbers them: its own names are not there at run time. */
const KIND = {
  ...{ CLOSE_BRACE: 2, CLOSE_BRACKET: 4, COMMA: 5, LINE_COMMENT: 12, BLOCK_COMMENT: 13 },
  ...{ LINE_BREAK: 14, WHITE_SPACE: 15, UNKNOWN: 16, END: 17 },
} as const;

/** What a scan found. */
export interface Lexical {
  /** Offsets of commas after which nothing comes. */
  readonly trailingCommas: readonly number[];
  readonly comments: readonly { readonly offset: number; readonly length: number }[];
  /** The text with spaces in their place, so that all other offsets stay. */
  readonly cleaned: string;
}

/** Scans a text for comments, those of shells (`#`) among them, and trailing commas. */
export function scan(text: string): Lexical {
  const scanner = createScanner(text, false);
  const trailingCommas: number[] = [];
  const comments: { offset: number; length: number }[] = [];
  let comma: number | undefined;
  for (let kind: number = scanner.scan(); kind !== KIND.END; kind = scanner.scan()) {
    const offset = scanner.getTokenOffset();
    if (kind === KIND.LINE_COMMENT || kind === KIND.BLOCK_COMMENT) {
      comments.push({ offset, length: scanner.getTokenLength() });
    } else if (kind === KIND.UNKNOWN && text[offset] === '#') {
      const length = (/\r?\n|$/.exec(text.slice(offset))?.index ?? 0) || 1;
      comments.push({ offset, length });
      scanner.setPosition(offset + length);
    } else if (kind === KIND.COMMA) comma = offset;
    else if (kind !== KIND.WHITE_SPACE && kind !== KIND.LINE_BREAK) {
      const closes = kind === KIND.CLOSE_BRACE || kind === KIND.CLOSE_BRACKET;
      if (closes && comma !== undefined) trailingCommas.push(comma);
      comma = undefined;
    }
  }
  const blank = (from: string, offset: number, length: number) =>
    from.slice(0, offset) +
    from.slice(offset, offset + length).replace(/[^\n]/g, ' ') +
    from.slice(offset + length);
  const withoutComments = comments.reduce((rest, { offset, length }) => blank(rest, offset, length), text);
  const cleaned = trailingCommas.reduce((rest, offset) => blank(rest, offset, 1), withoutComments);
  return { trailingCommas, comments, cleaned };
}
