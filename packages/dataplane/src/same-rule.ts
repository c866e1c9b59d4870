import { compile, type ListedRule, type NftRule, sameExpressions } from '@heddle/netlink';

/** Whether a listed rule is the one that was written: same owner, same expressions. */
export function sameRule(listed: ListedRule, written: NftRule): boolean {
  return (
    listed.comment === written.comment &&
    sameExpressions(listed.expressions, compile(written.expressions, written.family))
  );
}
