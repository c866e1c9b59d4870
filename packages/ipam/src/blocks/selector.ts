/**
 * Selectors: which nodes a pool is for, by their labels, in the language that operators know from Calico:
 * `all()`, `has(k)`, `k == 'v'`, `k != 'v'`, `k in {'a', 'b'}`, `k not in {'a'}`, `!`, `&&`, `||` and parentheses.
 */

/** Labels of a node. */
export type Labels = Readonly<Record<string, string>>;

/** Whether a node is meant. */
export type Selector = (labels: Labels) => boolean;

/**
 * Reads a selector.
 *
 * @param refuse makes the error for a text that is none, from the reason
 * @example parseSelector("zone in {'a', 'b'} && !has(gpu)", (why) => new Error(why))({ zone: 'a' }) // true
 */
export function parseSelector(text: string, refuse: (why: string) => Error): Selector {
  const reader = new Reader(text, refuse);
  const selector = either(reader);
  reader.expectEnd();
  return selector;
}

function either(reader: Reader): Selector {
  const parts = [both(reader)];
  while (reader.take('||')) parts.push(both(reader));
  return (labels) => parts.some((part) => part(labels));
}

function both(reader: Reader): Selector {
  const parts = [single(reader)];
  while (reader.take('&&')) parts.push(single(reader));
  return (labels) => parts.every((part) => part(labels));
}

function single(reader: Reader): Selector {
  if (reader.take('!')) {
    const inner = single(reader);
    return (labels) => !inner(labels);
  }
  if (reader.take('(')) {
    const inner = either(reader);
    reader.expect(')');
    return inner;
  }
  const name = reader.name();
  if (name === 'all' && reader.take('(')) {
    reader.expect(')');
    return () => true;
  }
  if (name === 'has' && reader.take('(')) {
    const key = reader.name();
    reader.expect(')');
    return (labels) => labelOf(labels, key) !== undefined;
  }
  return comparison(reader, name);
}

/** A label that is not there differs from every value. */
function comparison(reader: Reader, key: string): Selector {
  if (reader.take('==')) {
    const wanted = reader.text();
    return (labels) => labelOf(labels, key) === wanted;
  }
  if (reader.take('!=')) {
    const unwanted = reader.text();
    return (labels) => labelOf(labels, key) !== unwanted;
  }
  const negated = reader.take('not');
  if (!reader.take('in')) throw reader.error('==, !=, in or not in');
  const values = reader.set();
  return (labels) => {
    const value = labelOf(labels, key);
    return (value !== undefined && values.has(value)) !== negated;
  };
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

class Reader {
  readonly #text: string;
  readonly #refuse: (why: string) => Error;
  #at = 0;

  constructor(text: string, refuse: (why: string) => Error) {
    this.#text = text;
    this.#refuse = refuse;
  }

  take(token: string): boolean {
    this.#skip();
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.take(token)) throw this.error(token);
  }

  expectEnd(): void {
    this.#skip();
    if (this.#at < this.#text.length) throw this.error('&&, || or the end');
  }

  name(): string {
    return this.#match(/[A-Za-z0-9_./-]+/y, 'a label');
  }

  text(): string {
    return this.#match(/'[^']*'|"[^"]*"/y, 'a value in quotes').slice(1, -1);
  }

  set(): ReadonlySet<string> {
    this.expect('{');
    const values = new Set<string>();
    if (this.take('}')) return values;
    do values.add(this.text());
    while (this.take(','));
    this.expect('}');
    return values;
  }

  error(expected: string): Error {
    const rest = this.#text.slice(this.#at, this.#at + 20);
    const found = rest === '' ? 'the end' : JSON.stringify(rest);
    return this.#refuse(`expected ${expected}, found ${found} at character ${this.#at + 1}`);
  }

  #match(pattern: RegExp, what: string): string {
    this.#skip();
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw this.error(what);
    this.#at += found.length;
    return found;
  }

  #skip(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }
}
