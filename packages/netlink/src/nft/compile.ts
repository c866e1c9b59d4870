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
      return compileMatch(context, statement);
    case 'vmap':
      return compileVmap(context, statement);
    case 'verdict':
      return context.emit({
        expr: 'immediate',
        dreg: VERDICT_REGISTER,
        data: { verdict: verdictData(statement) },
      });
    case 'masquerade':
      return context.emit({ expr: 'masq', ...natFlags(statement) });
    case 'dnat':
    case 'snat':
      return compileNat(context, statement);
    case 'redirect':
      return compileRedirect(context, statement);
    case 'count':
      return context.emit({ expr: 'counter', bytes: 0n, packets: 0n });
    case 'counter-ref':
      return context.emit({ expr: 'objref', type: 1, object: statement.name });
    case 'set-mark':
      return compileSetMark(context, statement);
    case 'log':
      return context.emit(logExpression(statement));
    case 'limit':
      return context.emit(limitExpression(statement));
    case 'reject':
      return compileReject(context, statement.with);
    case 'notrack':
      return context.emit({ expr: 'notrack' });
    case 'xt-match':
    case 'xt-target': {
      const { name, revision, info } = statement.extension;
      return context.emit({
        expr: statement.kind === 'xt-match' ? 'match' : 'target',
        extension: name,
        revision,
        info,
      });
    }
    case 'raw':
      return context.emit(statement.expression);
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
