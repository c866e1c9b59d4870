/** What a look at a node is made of. */
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';
import type { Rule } from '../rule.ts';

/** One thing to look at: the rules that it may find broken, and how. */
export interface NodeCheck {
  readonly rules: readonly Rule[];
  /** Looks, and changes nothing. */
  look(view: NodeView): readonly Finding[] | Promise<readonly Finding[]>;
}

/** A rule of `heddle doctor`. */
export function doctorRule(rule: Omit<Rule, 'command'>): Rule {
  return { ...rule, command: 'doctor' };
}

/** `1 address`, `2 addresses`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** How long ago something was: `3 minutes ago`. */
export function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 120) return `${count(minutes, 'minute')} ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours ago` : `${Math.floor(hours / 24)} days ago`;
}

/** Some of many, for evidence: `a, b, c and 4 more`. */
export function some(items: readonly string[], most = 5): string {
  if (items.length <= most) return items.join(', ');
  return `${items.slice(0, most).join(', ')} and ${items.length - most} more`;
}
