/** Whether two rules do the same, though one comes back from the kernel. */
import type { Expression } from './codec/expressions.ts';
import { NF_NAT_RANGE } from './compile-nat.ts';

/**
 * Whether two lists of expressions are the same rule. What the kernel adds on its own (defaults, derived
 * flags) and what changes by itself (counts) is left out of account.
 *
 * A set without name is compared by its place only: its elements are not part of the rule's expressions.
 *
 * @example sameExpressions(listed.expressions, compile(statements, listed.family))
 */
export function sameExpressions(a: readonly Expression[], b: readonly Expression[]): boolean {
  return equal(a.map(canonical), b.map(canonical));
}

/** An expression without what does not tell two rules apart. */
export function canonical(expression: Expression): Readonly<Record<string, unknown>> {
  switch (expression.expr) {
    case 'counter':
      return { expr: 'counter' };
    case 'last':
      return { expr: 'last' };
    case 'quota':
      return { ...expression, consumed: 0n, flags: (expression.flags ?? 0) & QUOTA_INVERTED };
    case 'bitwise':
      return { op: 'mask', ...expression };
    case 'limit':
      return { burst: 0, type: 'packets', flags: 0, ...expression };
    case 'lookup': {
      const { setId: _, set = '', ...rest } = expression;
      return { flags: 0, ...rest, set: ANONYMOUS.test(set) ? '__set' : set };
    }
    case 'dynset': {
      const { setId: _, ...rest } = expression;
      return { flags: 0, ...rest };
    }
    case 'objref': {
      const { setId: _, ...rest } = expression;
      return rest;
    }
    case 'nat': {
      const { addrMax, ...rest } = expression;
      return { ...translation(rest), ...(addrMax === expression.addrMin ? {} : { addrMax }) };
    }
    case 'masq':
    case 'redir':
      return translation(expression);
    case 'log':
      // Neither a group nor a level is the kernel's log at its default level.
      return expression.group === undefined
        ? { level: WARNING, ...expression, flags: expression.flags ?? 0 }
        : { snaplen: 0, queueThreshold: 0, ...expression };
    case 'payload':
      return expression.sreg === undefined
        ? expression
        : { checksumType: 0, checksumOffset: 0, checksumFlags: 0, ...expression };
    case 'reject':
      return { code: 0, ...expression };
    case 'exthdr':
      return { op: 0, flags: 0, ...expression };
    case 'hash':
    case 'numgen':
      return { offset: 0, ...expression };
    default:
      return { ...expression };
  }
}

/** NFT_LOGLEVEL_WARNING */
const WARNING = 4;
/** NFT_QUOTA_F_INV; the other flag says that it is used up. */
const QUOTA_INVERTED = 1;
/** The kernel numbers sets without name: `__set%d` becomes `__set0`. */
const ANONYMOUS = /^__(set|map)(%d|[0-9]+)$/;

/** The kernel repeats the lower end of a range as its upper one, and derives two of the flags from them. */
function translation(
  expression: Extract<Expression, { expr: 'nat' | 'masq' | 'redir' }>,
): Readonly<Record<string, unknown>> {
  const { portMax, flags = 0, ...rest } = expression;
  return {
    ...rest,
    flags: flags & ~(NF_NAT_RANGE.MAP_IPS | NF_NAT_RANGE.PROTO_SPECIFIED),
    ...(portMax === expression.portMin ? {} : { portMax }),
  };
}

function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return a.length === b.length && a.every((byte, at) => byte === b[at]);
  }
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) =>
    equal((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}
