/**
 * Regular expressions in the syntax of RE2 (github.com/google/re2/wiki/Syntax), which the reference's lists are
 * written in. What RE2 and JavaScript understand differently is translated; what only one of them understands is
 * refused, so that no list ever allows more than it says. Pure.
 */

/**
 * The regular expression for JavaScript.
 *
 * @throws {SyntaxError} for what is no expression, and for what has no translation
 * @example compileRe2('^net\\.ipv4\\.[[:alpha:]]+$').test('net.ipv4.forward') // true
 */
export function compileRe2(source: string): RegExp {
  const [all = '', flags = ''] = /^\(\?([ims]+)\)/.exec(source) ?? [];
  return new RegExp(translate(source.slice(all.length)), `u${[...new Set(flags)].join('')}`);
}

function translate(source: string): string {
  let text = source;
  let translated = '';
  while (text !== '') {
    const [token, meaning] = next(text);
    translated += meaning;
    text = text.slice(token.length);
  }
  return translated;
}

/** The first token of the text, and what it is in JavaScript. */
function next(text: string): readonly [token: string, meaning: string] {
  const quoted = /^\\Q([\s\S]*?)(?:\\E|$)/.exec(text);
  if (quoted !== null) return [quoted[0], [...(quoted[1] ?? '')].map(literal).join('')];
  const named = /^\(\?P</.exec(text);
  if (named !== null) return [named[0], '(?<'];
  const group = /^\(\?(?![ims]*(?:-[ims]+)?:|<[A-Za-z_])/.exec(text);
  if (group !== null) throw new SyntaxError(`(?${text.at(2) ?? ''} is not supported`);
  if (text.startsWith('\\')) {
    const token = escapeToken(text);
    return [token, ESCAPES.get(token) ?? escaped(token)];
  }
  if (text.startsWith('[')) return bracket(text);
  const repetition = /^\{\d+(?:,\d*)?\}/.exec(text);
  if (repetition !== null) return [repetition[0], repetition[0]];
  const char = String.fromCodePoint(text.codePointAt(0) ?? 0);
  return [char, '{}]'.includes(char) ? `\\${char}` : char];
}

/** A class of characters, with the POSIX names that JavaScript does not have. */
function bracket(text: string): readonly [token: string, meaning: string] {
  const [head = ''] = /^\[\^?/.exec(text) ?? [];
  let token = head;
  let meaning = head;
  for (let isFirst = true; ; isFirst = false) {
    const rest = text.slice(token.length);
    if (rest === '') throw new SyntaxError('missing ]');
    if (rest.startsWith(']') && !isFirst) return [`${token}]`, `${meaning}]`];
    const [item, translated] = member(rest);
    token += item;
    meaning += translated;
  }
}

function member(text: string): readonly [token: string, meaning: string] {
  const [posix, name = ''] = /^\[:(\w+):\]/.exec(text) ?? [];
  if (posix !== undefined) {
    const members = POSIX.get(name);
    if (members === undefined) throw new SyntaxError(`there is no class ${posix}`);
    return [posix, members];
  }
  if (text.startsWith('\\')) {
    const token = escapeToken(text);
    if (token === '\\s') return [token, SPACE];
    if (ESCAPES.has(token) || /^\\[bBS]$/.test(token))
      throw new SyntaxError(`${token} is not supported in a class`);
    return [token, token === '\\-' ? token : escaped(token)];
  }
  const char = String.fromCodePoint(text.codePointAt(0) ?? 0);
  return [char, '[]'.includes(char) ? `\\${char}` : char];
}

function escapeToken(text: string): string {
  const [token] = /^\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|[pP]\{\w+\}|[pP][A-Z]|[\s\S])/u.exec(text) ?? [];
  if (token === undefined) throw new SyntaxError('it ends with a backslash');
  return token;
}

function escaped(token: string): string {
  const char = token.slice(1);
  if (/^[dDwWbBnrtfv]$/.test(char) || /^[xpP]./.test(char)) {
    return token.replace(/^\\x\{/, '\\u{').replace(/^\\([pP])([A-Z])$/, '\\$1{$2}');
  }
  if (/^[A-Za-z0-9]/.test(char)) throw new SyntaxError(`${token} is not supported`);
  return literal(char);
}

/** A character that stands for itself. */
function literal(char: string): string {
  return /[\^$\\.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

const SPACE = '\\t\\n\\f\\r ';
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\A', '(?<![\\s\\S])'],
  ['\\z', '(?![\\s\\S])'],
  ['\\a', '\\x07'],
  ['\\s', `[${SPACE}]`],
  ['\\S', `[^${SPACE}]`],
]);
const POSIX: ReadonlyMap<string, string> = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['ascii', '\\x00-\\x7f'],
  ['blank', '\\t '],
  ['cntrl', '\\x00-\\x1f\\x7f'],
  ['digit', '0-9'],
  ['graph', '!-~'],
  ['lower', 'a-z'],
  ['print', ' -~'],
  ['punct', '!-\\/:-@\\[-`\\{-~'],
  ['space', '\\t\\n\\v\\f\\r '],
  ['upper', 'A-Z'],
  ['word', '0-9A-Za-z_'],
  ['xdigit', '0-9A-Fa-f'],
]);
