/**
 * JSON objects inside other text. Only error paths come here: a plugin that mixes log lines, a result and an
 * error on stdout has broken the protocol, but what it meant to say is still worth showing.
 */

/** The objects near the end of a text, in order; whatever lies between them is passed over. */
export function jsonDocuments(output: string): readonly unknown[] {
  const text = output.slice(-LOOKED_AT);
  const found: unknown[] = [];
  let effort = EFFORT * text.length;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at)) {
    const end = closingBrace(text, at);
    effort -= (end ?? text.length) - at;
    if (effort < 0) break;
    const value = end === undefined ? undefined : parsed(text.slice(at, end + 1));
    if (end === undefined || value === undefined) at += 1;
    else {
      found.push(value);
      at = end + 1;
    }
  }
  return found;
}

const LOOKED_AT = 32 * 1024;

/** How often each character is looked at, on average: the ends of many objects that have none would take quadratic time. */
const EFFORT = 32;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function closingBrace(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) return at;
  }
  return undefined;
}
