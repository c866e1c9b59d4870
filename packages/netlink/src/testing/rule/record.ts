import type { Value } from '@heddle/wire';
import { AF, type Family } from '../../core/family.ts';
import { RT_TABLE, RTPROT } from '../../route/codec.ts';
import { type ruleMessage, SUPPRESS_NONE } from '../../rule/codec.ts';

/** A rule of the fake kernel, as the message that lists it. */
export type RuleRecord = Value<typeof ruleMessage>;

/** The rules that every namespace begins with. */
export function defaultRules(family: Family): readonly RuleRecord[] {
  const rule = (priority: number, table: number): RuleRecord => ({
    family: family === 4 ? AF.INET : AF.INET6,
    dstLength: 0,
    srcLength: 0,
    tos: 0,
    table,
    action: 'table',
    flags: 0,
    attributes: {
      ...(priority > 0 && { priority }),
      table,
      suppressPrefixLength: SUPPRESS_NONE,
      protocol: RTPROT.KERNEL,
    },
  });
  const rules = [rule(0, RT_TABLE.LOCAL), rule(32766, RT_TABLE.MAIN)];
  return family === 4 ? [...rules, rule(32767, RT_TABLE.DEFAULT)] : rules;
}
