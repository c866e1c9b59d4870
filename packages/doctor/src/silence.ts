/**
 * The silencing file: findings that the operator does not want to be told of, each with the reason why. JSON, with
 * comments and trailing commas if one likes:
 *
 *     {
 *       "silence": [
 *         { "id": "chain/no-policy-engine", "reason": "single-tenant lab", "where": "10-lab.conflist" }
 *       ]
 *     }
 */
import {
  ConfigError,
  closest,
  isJsonObject,
  type JsonPath,
  type JsonValue,
  jsonPointer,
  locate,
} from '@heddle/cni';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import type { Finding } from './finding.ts';
import type { Rules } from './rule.ts';

/** One line of the silencing file. */
export interface Silence {
  readonly id: string;
  /** Why: for whoever comes after. */
  readonly reason: string;
  /** A part of the file's path or of the subject; everywhere unless set. */
  readonly where?: string;
}

/** A finding that was not told, and why. */
export interface Silenced {
  readonly finding: Finding;
  readonly reason: string;
}

/**
 * Reads a silencing file.
 *
 * @throws {ConfigError} with the place of a syntax error, an unknown id, a missing reason, an unknown member
 */
export function parseSilences(text: string, file: string, rules: Rules): readonly Silence[] {
  const errors: ParseError[] = [];
  const root: JsonValue | undefined = parse(text, errors, { allowTrailingComma: true });
  const fail = (path: JsonPath, reason: string, hint?: string): never => {
    const place = { file, ...locate(text, path), pointer: jsonPointer(path) };
    throw new ConfigError(reason, { ...place, ...(hint !== undefined && { hint }) });
  };
  const [first] = errors;
  if (first !== undefined) {
    const before = text.slice(0, first.offset).split('\n');
    throw new ConfigError(`not valid JSON: ${printParseErrorCode(first.error)}`, {
      ...{ file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 },
    });
  }
  const entries = isJsonObject(root) ? root['silence'] : undefined;
  if (!Array.isArray(entries)) return fail([], 'expected an object with the list "silence"');
  return entries.map((entry: JsonValue, index): Silence => {
    const path = ['silence', index];
    if (!isJsonObject(entry)) return fail(path, 'expected an object with "id" and "reason"');
    const { id, reason, where, ...others } = entry;
    if (typeof id !== 'string' || !rules.has(id)) {
      const meant = typeof id === 'string' ? closest(id, [...rules.keys()]) : undefined;
      const hint = meant === undefined ? '`heddle audit rules` lists the ids' : `did you mean "${meant}"?`;
      return fail([...path, 'id'], `there is no rule ${JSON.stringify(id)}`, hint);
    }
    if (typeof reason !== 'string' || reason.trim() === '') {
      return fail([...path, 'reason'], `${id} is silenced without a reason: say why in "reason"`);
    }
    if (where !== undefined && typeof where !== 'string') return fail([...path, 'where'], 'expected a text');
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) return fail([...path, unknown], `unknown member "${unknown}"`);
    return { id, reason, ...(where !== undefined && { where }) };
  });
}

/** Parts findings into those to tell and those that are silenced. */
export function silence(
  findings: readonly Finding[],
  silences: readonly Silence[],
): { readonly told: readonly Finding[]; readonly silenced: readonly Silenced[] } {
  const told: Finding[] = [];
  const silenced: Silenced[] = [];
  for (const finding of findings) {
    const by = silences.find((each) => applies(each, finding));
    if (by === undefined) told.push(finding);
    else silenced.push({ finding, reason: by.reason });
  }
  return { told, silenced };
}

function applies({ id, where }: Silence, { id: found, place, subject }: Finding): boolean {
  if (id !== found) return false;
  return where === undefined || [place?.file, subject].some((text) => text?.includes(where) ?? false);
}
