/**
 * A configuration file's text with the place of everything in it. Read tolerantly: comments and trailing commas are
 * problems to tell of, but what stands beside them is still looked at.
 */
import { isJsonObject, type JsonPath, type JsonValue, MAX_DEPTH } from '@heddle/cni';
import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import type { Place } from '../../finding.ts';
import { Memo } from './memo.ts';

/** A syntax problem as the tolerant parser tells it. */
export type SyntaxError = ParseError;

/** A text, its tree and its places. */
export class Document {
  readonly path: string;
  /** The decoded text; a byte order mark is its first character. */
  readonly text: string;
  /** The value as far as it can be made out; `undefined` for a text without any. */
  readonly value: JsonValue | undefined;
  /** Everything that is not JSON, in the order of the text. */
  readonly errors: readonly SyntaxError[];
  /** Results of rules that concern this document. */
  readonly memo = new Memo();
  readonly #root: Node | undefined;
  #lineStarts: readonly number[] | undefined;

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
    const errors: SyntaxError[] = [];
    // A mark is no white space to the parser, but one character of it keeps all offsets.
    this.#root = parseTree(text.replace(/^\ufeff/, ' '), errors, { disallowComments: true });
    this.errors = errors;
    this.value = this.#root === undefined ? undefined : (getNodeValue(this.#root) as JsonValue);
  }

  /** Whether it is nested deeper than a configuration may be; rules go down the values by recursion. */
  get isTooDeep(): boolean {
    let level = this.#root === undefined ? [] : [this.#root].filter(isContainer);
    for (let depth = 0; level.length > 0; depth++) {
      if (depth === MAX_DEPTH) return true;
      level = level.flatMap(valuesOf).filter(isContainer);
    }
    return false;
  }

  /**
   * Whether parts of the text are lost, for it ends before its last bracket is closed, or has names and values without
   * double quotes: nobody knows then what it lacks.
   */
  get isPartial(): boolean {
    return this.errors.some(({ error, offset }) => LOSING.includes(error) || offset >= this.text.length);
  }

  /** The value when it is an object. */
  get object() {
    return this.value !== undefined && isJsonObject(this.value) ? this.value : undefined;
  }

  /** The place of an offset in the text. */
  at(offset: number): Place {
    const starts = this.#starts();
    const index = lastAtMost(starts, offset);
    const start = starts[index] ?? 0;
    const end = starts[index + 1] ?? this.text.length + 1;
    const excerpt = this.text.slice(start, end - 1).replace(/\r$/, '');
    return {
      file: this.path,
      line: index + 1,
      column: offset - start + 1,
      excerpt: shorten(excerpt, offset - start),
    };
  }

  /** The place of a value; of a missing one, that of the nearest parent. */
  place(path: JsonPath = []): Place {
    return this.at(this.#nearest(path)?.offset ?? 0);
  }

  /** The place of a member's name; that of the value where there is no such member. */
  keyPlace(path: JsonPath): Place {
    const node = this.node(path);
    const key = node?.parent?.type === 'property' ? node.parent.children?.[0] : node;
    return key === undefined ? this.place(path) : this.at(key.offset);
  }

  /** The node of a value. Of several members with one name the last counts, as it does for every decoder. */
  node(path: JsonPath): Node | undefined {
    let node = this.#root;
    for (const part of path) node = node === undefined ? undefined : childOf(node, part);
    return node;
  }

  /** Every object of the text with its path, the outermost first. */
  *objects(
    node = this.#root,
    path: JsonPath = [],
  ): Iterable<{ readonly node: Node; readonly path: JsonPath }> {
    if (node?.type === 'object') {
      yield { node, path };
      for (const property of node.children ?? []) {
        const [key, value] = property.children ?? [];
        if (value !== undefined) yield* this.objects(value, [...path, String(key?.value)]);
      }
    } else if (node?.type === 'array') {
      for (const [index, item] of (node.children ?? []).entries())
        yield* this.objects(item, [...path, index]);
    }
  }

  #nearest(path: JsonPath): Node | undefined {
    for (let length = path.length; length >= 0; length--) {
      const node = this.node(path.slice(0, length));
      if (node !== undefined) return node;
    }
    return undefined;
  }

  #starts(): readonly number[] {
    if (this.#lineStarts === undefined) {
      this.#lineStarts = [0, ...[...this.text.matchAll(/\n/g)].map(({ index }) => index + 1)];
    }
    return this.#lineStarts;
  }
}

/** Errors after which the parser passes over what stands there: invalid symbol, missing colon, open string. */
const LOSING: readonly number[] = [1, 5, 12];

function isContainer({ type }: Node): boolean {
  return type === 'object' || type === 'array';
}

/** The values in an object or an array. */
function valuesOf({ children = [] }: Node): readonly Node[] {
  return children.flatMap((child) => (child.type === 'property' ? (child.children?.slice(1) ?? []) : child));
}

function childOf(node: Node, part: string | number): Node | undefined {
  if (typeof part === 'number') return node.type === 'array' ? node.children?.[part] : undefined;
  if (node.type !== 'object') return undefined;
  const property = node.children?.findLast(({ children }) => children?.[0]?.value === part);
  return property?.children?.[1];
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((sorted[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A file of one endless line must not be told whole with each finding; the column stays true up to the cut. */
function shorten(line: string, column: number): string {
  return line.length <= EXCERPT_MAX ? line : `${line.slice(0, Math.max(column, 0) + EXCERPT_MAX)}`;
}

const EXCERPT_MAX = 240;
