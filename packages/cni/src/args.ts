/**
 * CNI_ARGS: `KEY=value` pairs with semicolons between them.
 *
 * Keys are matched in their exact letter case. A pair whose key a plugin does not know is an error, unless
 * `IgnoreUnknown` is set; Kubernetes runtimes always set it.
 */
import { UsageError } from './errors.ts';

/** The pairs of CNI_ARGS, in order. */
export type CniArgs = readonly (readonly [key: string, value: string])[];

/**
 * The pairs of a CNI_ARGS text. Each must have exactly one `=`, so a value has none, and a semicolon at the
 * end is an error.
 *
 * @throws {UsageError} naming the pair that is malformed.
 */
export function parseCniArgs(text: string): CniArgs {
  if (text === '') return [];
  return text.split(';').map((pair) => {
    const [key, value, ...more] = pair.split('=');
    if (key === undefined || value === undefined || more.length > 0) {
      throw new UsageError(`ARGS: invalid pair ${quote(pair)}`, { code: 'ARGS_INVALID' });
    }
    return [key, value] as const;
  });
}

/** The pairs of a CNI_ARGS text, leaving out what is no pair; a value may contain `=`. Never throws. */
export function parseCniArgsLeniently(text: string): CniArgs {
  return text.split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at <= 0 ? [] : [[pair.slice(0, at), pair.slice(at + 1)] as const];
  });
}

/** The text for CNI_ARGS. The inverse of {@link parseCniArgs}. */
export function formatCniArgs(args: CniArgs): string {
  return args.map(([key, value]) => `${key}=${value}`).join(';');
}

/**
 * The values of the keys that a plugin knows.
 *
 * @throws {UsageError} for a malformed text, or for an unknown key when `IgnoreUnknown` is not set.
 * @example loadArgs('IgnoreUnknown=1;MAC=02:00:00:00:00:01;K8S_POD_NAME=web', ['MAC']) // { MAC: '02:…' }
 */
export function loadArgs<K extends string>(
  text: string,
  knownKeys: readonly K[],
): Partial<Record<K, string>> {
  const pairs = parseCniArgs(text);
  const ignoreUnknown =
    pairs
      .filter(([key]) => key === 'IgnoreUnknown')
      .map(readBoolean)
      .at(-1) ?? false;
  const known = pairs.filter((pair): pair is readonly [K, string] => isOneOf(knownKeys, pair[0]));
  const unknown = pairs.filter(([key]) => key !== 'IgnoreUnknown' && !isOneOf(knownKeys, key));
  if (unknown.length > 0 && !ignoreUnknown) {
    const list = unknown.map(([key, value]) => quote(`${key}=${value}`)).join(' ');
    throw new UsageError(`ARGS: unknown args [${list}]`, { code: 'ARGS_INVALID' });
  }
  return Object.fromEntries(known) as Partial<Record<K, string>>;
}

function readBoolean([key, value]: readonly [string, string]): boolean {
  const lower = value.toLowerCase();
  if (lower === '1' || lower === 'true') return true;
  if (lower === '0' || lower === 'false') return false;
  throw new UsageError(
    `ARGS: error parsing value of pair ${quote(`${key}=${value}`)}: expected 1, true, 0 or false`,
    {
      code: 'ARGS_INVALID',
    },
  );
}

function isOneOf<K extends string>(keys: readonly K[], key: string): key is K {
  return (keys as readonly string[]).includes(key);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
