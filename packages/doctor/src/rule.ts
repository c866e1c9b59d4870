/** What can be found: the rules, each with a stable id and a text that explains it, in one registry. */
import type { Finding, Severity } from './finding.ts';

/** A kind of finding. Whoever looks for it adds how; see `AuditRule` for one that looks at files. */
export interface Rule {
  /** Stable for ever, `family/name` in lower case with hyphens: `syntax/trailing-comma`. */
  readonly id: string;
  /** What is wrong when it is found, as a heading: no full stop. */
  readonly title: string;
  /** How bad it usually is; a finding may be milder. */
  readonly severity: Severity;
  /** Which command looks for it. */
  readonly command: 'audit' | 'doctor' | 'doctor logs' | 'verify';
  /** For the documentation and `heddle audit rules`: what is looked at, and why it matters. Markdown, one paragraph. */
  readonly explains: string;
  /** Whether some of its findings have a fix. */
  readonly fixable?: boolean;
}

/**
 * A finding of a rule.
 *
 * @example found(noSuchBinary, { subject: 'network pods', what: '…', consequence: '…', remedy: '…' })
 */
export function found(
  rule: Pick<Rule, 'id' | 'severity'>,
  finding: Omit<Finding, 'id' | 'severity'> & { readonly severity?: Severity },
): Finding {
  return { id: rule.id, severity: rule.severity, ...finding };
}

/** Rules by id. Their order says which is likelier the cause of what one sees: of equally bad findings, earlier rules' come first. */
export type Rules = ReadonlyMap<string, Rule>;

/**
 * A registry of rules.
 *
 * @throws {TypeError} when two have one id, or an id is malformed: both are defects of this package.
 */
export function ruleRegistry(rules: readonly Rule[]): Rules {
  const byId = new Map<string, Rule>();
  for (const rule of rules) {
    if (!ID.test(rule.id)) throw new TypeError(`${rule.id} is no rule id`);
    if (byId.has(rule.id)) throw new TypeError(`two rules have the id ${rule.id}`);
    byId.set(rule.id, rule);
  }
  return byId;
}

const ID = /^[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*$/;
