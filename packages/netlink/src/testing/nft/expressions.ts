/** The expressions of a rule as the kernel takes them in: what they refer to must be there — nft_*_init */
import type { Expression } from '../../nft/codec/expressions.ts';
import { NFT_SET } from '../../nft/codec/set.ts';
import { refuse, unsupported } from '../core/refusal.ts';
import type { TableRecord } from './records.ts';
import type { Transaction } from './transaction.ts';

/** The expression as it is listed afterwards. */
export function settled(transaction: Transaction, table: TableRecord, expression: Expression): Expression {
  switch (expression.expr) {
    case 'raw':
      return unsupported(`expression ${expression.name}`);
    case 'counter':
      return { expr: 'counter', bytes: expression.bytes ?? 0n, packets: expression.packets ?? 0n };
    case 'immediate':
      checkVerdict(table, expression.data?.verdict);
      return expression;
    case 'lookup': {
      const { setId, ...rest } = expression;
      const set = transaction.set(table, expression.set, setId);
      const isMap = (set.attributes.flags & NFT_SET.MAP) !== 0;
      if (isMap !== (expression.dreg !== undefined)) refuse('EINVAL');
      return { flags: 0, ...rest, set: set.attributes.name };
    }
    case 'dynset': {
      const { setId, ...rest } = expression;
      const set = transaction.set(table, expression.set, setId);
      if ((set.attributes.flags & NFT_SET.CONSTANT) !== 0) refuse('EBUSY');
      if (expression.timeout !== undefined && (set.attributes.flags & NFT_SET.TIMEOUT) === 0)
        refuse('EOPNOTSUPP');
      return { ...rest, set: set.attributes.name };
    }
    case 'objref': {
      const { setId, ...rest } = expression;
      if (expression.set === undefined && setId === undefined) {
        const { object } = expression;
        if (object === undefined || !table.objects.has(object)) refuse('ENOENT');
        return rest;
      }
      const set = transaction.set(table, expression.set, setId);
      if ((set.attributes.flags & NFT_SET.OBJECT) === 0) refuse('EINVAL');
      return { ...rest, set: set.attributes.name };
    }
    default:
      return expression;
  }
}

/** A verdict that jumps must find a chain that packets do not enter by themselves. */
export function checkVerdict(
  table: TableRecord,
  verdict: { readonly code?: string | number; readonly chain?: string } | undefined,
): void {
  if (verdict === undefined) return;
  const jumps = verdict.code === 'jump' || verdict.code === 'goto';
  if (!jumps) {
    if (verdict.chain !== undefined) refuse('EINVAL');
    return;
  }
  const chain = verdict.chain === undefined ? undefined : table.chains.get(verdict.chain);
  if (chain === undefined) refuse('ENOENT');
  if (chain.attributes.hook !== undefined) refuse('EOPNOTSUPP');
}
