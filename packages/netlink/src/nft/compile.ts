/** Statements into the kernel's expressions, written as `nft` writes them so that it reads them back. */
import type { Expression } from './codec/expressions.ts';
import { type AnonymousSet, CompileContext } from './compile-context.ts';
import { compileSetMark } from './compile-mark.ts';
import { compileMatch, compileVmap } from './compile-match.ts';
import { compileNat, compileRedirect, natFlags } from './compile-nat.ts';
import { compileReject } from './compile-reject.ts';
import type { NftFamily } from './model.ts';
import { NftError } from './nft-error.ts';
import type { LimitOptions, LogOptions, Statement, Verdict } from './statements.ts';

/** A rule in expressions, and the sets without name that it brings along. */
export interface CompiledRule {
  readonly expressions: readonly Expression[];
  readonly sets: readonly AnonymousSet[];
}

/**
 * The expressions of a rule in a table of this family, as the kernel is told them. Compare them with those of
 * a listed rule by {@link sameExpressions}.
 *
 * @throws {NftError} when a value is of the wrong type, or the rule could never match in this family
 */
export function compile(
  statements: readonly (Statement | Expression)[],
  family: NftFamily,
): readonly Expression[] {
  return compileRule(statements, family).expressions;
}

/** Like {@link compile}, together with the anonymous sets. */
export function compileRule(
  statements: readonly (Statement | Expression)[],
  family: NftFamily,
): CompiledRule {
  const context = new CompileContext(family);
  for (const statement of statements) {
    if ('kind' in statement) compileStatement(context, statement);
    else context.emit(statement);
  }
  return { expressions: context.expressions, sets: context.sets };
}

function compileStatement(context: CompileContext, statement: Statement): void {
  switch (statement.kind) {
    case 'match':
      compileMatch(context, statement);
      break;
    case 'vmap':
      compileVmap(context, statement);
      break;
    case 'verdict':
      context.emit({
        expr: 'immediate',
        dreg: VERDICT_REGISTER,
        data: { verdict: verdictData(statement) },
      });
      break;
    case 'masquerade':
      context.emit({ expr: 'masq', ...natFlags(statement) });
      break;
    case 'dnat':
    case 'snat':
      compileNat(context, statement);
      break;
    case 'redirect':
      compileRedirect(context, statement);
      break;
    case 'count':
      context.emit({ expr: 'counter', bytes: 0n, packets: 0n });
      break;
    case 'counter-ref':
      context.emit({ expr: 'objref', type: 1, object: statement.name });
      break;
    case 'set-mark':
      compileSetMark(context, statement);
      break;
    case 'log':
      context.emit(logExpression(statement));
      break;
    case 'limit':
      context.emit(limitExpression(statement));
      break;
    case 'reject':
      compileReject(context, statement.with);
      break;
    case 'notrack':
      context.emit({ expr: 'notrack' });
      break;
    case 'xt-match':
    case 'xt-target': {
      const { name, revision, info } = statement.extension;
      context.emit({
        expr: statement.kind === 'xt-match' ? 'match' : 'target',
        extension: name,
        revision,
        info,
      });
      break;
    }
    case 'raw':
      context.emit(statement.expression);
      break;
  }
}

/** NFT_REG_VERDICT */
const VERDICT_REGISTER = 0;

/** A verdict as a register holds it. */
export function verdictData(verdict: Verdict): {
  readonly code: Verdict['verdict'];
  readonly chain?: string;
} {
  return 'chain' in verdict ? { code: verdict.verdict, chain: verdict.chain } : { code: verdict.verdict };
}

function logExpression({ prefix, group, level, snaplen }: LogOptions): Expression {
  if (group !== undefined && level !== undefined) {
    throw new NftError(`log to group ${group} has no level (a level belongs to the kernel's log)`);
  }
  return {
    expr: 'log',
    ...(prefix === undefined ? {} : { prefix }),
    ...(group === undefined ? {} : { group }),
    ...(snaplen === undefined ? {} : { snaplen }),
    ...(level === undefined ? {} : { level: LOG_LEVELS.indexOf(level) }),
  };
}

const LOG_LEVELS: readonly NonNullable<LogOptions['level']>[] = [
  'emerg',
  'alert',
  'crit',
  'err',
  'warn',
  'notice',
  'info',
  'debug',
];

function limitExpression({ rate, per, burst, unit = 'packets', over = false }: LimitOptions): Expression {
  return {
    expr: 'limit',
    rate: BigInt(rate),
    unit: BigInt(SECONDS[per]),
    burst: burst ?? (unit === 'packets' ? 5 : 0),
    type: unit,
    flags: over ? 1 : 0,
  };
}

const SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800 } as const;
