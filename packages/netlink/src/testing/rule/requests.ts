/** RTM_NEWRULE, RTM_DELRULE, RTM_GETRULE — net/core/fib_rules.c */
import { decode, encode } from '@heddle/wire';
import { AF, familyOf } from '../../core/family.ts';
import { NLM_F } from '../../core/header.ts';
import { RTM } from '../../core/rtm.ts';
import { ruleMessage, SUPPRESS_NONE } from '../../rule/codec.ts';
import type { Handlers } from '../core/handler.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown, unsupported } from '../core/refusal.ts';
import type { RuleRecord } from './record.ts';

/** What the rules do. */
export const ruleHandlers: readonly (readonly [number, Handlers])[] = [
  [RTM.NEWRULE, { change: (namespace, { flags, body }) => addRule(namespace, flags, read(body)) }],
  [RTM.DELRULE, { change: (namespace, { body }) => deleteRule(namespace, read(body)) }],
  [RTM.GETRULE, { dump: (namespace, { body }) => listRules(namespace, read(body)) }],
];

function addRule(namespace: Namespace, flags: number, wanted: RuleRecord): undefined {
  const rule = completed(namespace, wanted);
  const kin = namespace.rules.filter(({ family }) => family === rule.family);
  if ((flags & NLM_F.EXCL) !== 0 && kin.some((other) => same(other, rule))) refuse('EEXIST');
  const priority = priorityOf(rule);
  const before = kin.find((other) => priorityOf(other) > priority);
  const last = kin.at(-1);
  const at =
    before !== undefined
      ? namespace.rules.indexOf(before)
      : last === undefined
        ? namespace.rules.length
        : namespace.rules.indexOf(last) + 1;
  namespace.rules = namespace.rules.toSpliced(at, 0, rule);
  publish(namespace, rule, RTM.NEWRULE);
  return undefined;
}

function deleteRule(namespace: Namespace, wanted: RuleRecord): undefined {
  const found = namespace.rules.find((rule) => matches(rule, wanted));
  if (found === undefined) refuse('ENOENT');
  namespace.rules = namespace.rules.filter((rule) => rule !== found);
  publish(namespace, found, RTM.DELRULE);
  return undefined;
}

function listRules(namespace: Namespace, { family }: RuleRecord) {
  return namespace.rules
    .filter((rule) => family === AF.UNSPEC || rule.family === family)
    .map((rule) => describe(rule, RTM.NEWRULE));
}

function completed(namespace: Namespace, wanted: RuleRecord): RuleRecord {
  const { attributes: a, action } = wanted;
  const family = familyOf(wanted.family) ?? refuse('EAFNOSUPPORT');
  if (wanted.srcLength > 0 && a.src === undefined) refuse('EINVAL', 'Invalid rule');
  if (wanted.dstLength > 0 && a.dst === undefined) refuse('EINVAL', 'Invalid rule');
  const table = a.table ?? wanted.table;
  if (action === 'goto') {
    if (a.goto === undefined) refuse('EINVAL', 'Missing goto target for action goto');
    unsupported('goto between rules');
  }
  if (action === 'table' && table === 0 && a.l3mdev !== true) {
    // A rule without a table gets one of its own in IPv4; IPv6 wants it named.
    if (family === 6) refuse('EINVAL', 'Invalid rule');
    unsupported('rules without a table');
  }
  const priority = a.priority ?? nextPriority(namespace, wanted.family);
  return {
    ...wanted,
    table: table < 256 ? table : 252,
    attributes: {
      ...a,
      table,
      ...(priority > 0 && { priority }),
      ...(a.fwmark !== undefined && { fwmask: a.fwmask ?? 0xffff_ffff }),
      suppressPrefixLength: a.suppressPrefixLength ?? SUPPRESS_NONE,
      protocol: a.protocol ?? 0,
    },
  };
}

/** In front of the second rule: fib_default_rule_pref */
function nextPriority({ rules }: Namespace, family: number): number {
  const [, second] = rules.filter((rule) => rule.family === family);
  const priority = second === undefined ? 0 : priorityOf(second);
  return priority > 0 ? priority - 1 : 0;
}

function priorityOf({ attributes }: RuleRecord): number {
  return attributes.priority ?? 0;
}

function same(a: RuleRecord, b: RuleRecord): boolean {
  return text(a) === text(b);
}

/** Whether a rule has all that is asked for. */
function matches(rule: RuleRecord, wanted: RuleRecord): boolean {
  const { attributes: w } = wanted;
  const table = w.table ?? wanted.table;
  if (rule.family !== wanted.family || (wanted.action !== 0 && rule.action !== wanted.action)) return false;
  if (table !== 0 && (rule.attributes.table ?? rule.table) !== table) return false;
  if (wanted.tos !== 0 && rule.tos !== wanted.tos) return false;
  if (wanted.srcLength > 0 && rule.srcLength !== wanted.srcLength) return false;
  if (wanted.dstLength > 0 && rule.dstLength !== wanted.dstLength) return false;
  const { table: _, ...rest } = w;
  return Object.entries(rest).every(([key, value]) => {
    const found: unknown = Reflect.get(rule.attributes, key);
    return value === undefined || JSON.stringify(plain(value)) === JSON.stringify(plain(found));
  });
}

function text({ family, srcLength, dstLength, tos, action, flags, attributes }: RuleRecord): string {
  const sorted = Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([family, srcLength, dstLength, tos, action, flags, sorted], (_, value) =>
    plain(value),
  );
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function describe(rule: RuleRecord, type: number) {
  return { type, flags: 0, body: encode(ruleMessage, rule) };
}

function publish(namespace: Namespace, rule: RuleRecord, type: number): void {
  namespace.notifier.publish(familyOf(rule.family) === 4 ? 'rule4' : 'rule6', describe(rule, type));
}

function read(body: Uint8Array): RuleRecord {
  const message = decode(ruleMessage, body);
  refuseUnknown('FRA', message);
  return message;
}
