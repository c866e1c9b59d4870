/** The one registry of rules. */
import { AUDIT_RULES } from './audit/rules.ts';
import { DOCTOR_RULES } from './checks/rules.ts';
import { LOCK_RULES } from './lock/rules.ts';
import { LOG_RULES } from './logs/messages.ts';
import { type Rules, ruleRegistry } from './rule.ts';

/** Every rule that there is, the likeliest causes first. */
export const RULES: Rules = ruleRegistry([...AUDIT_RULES, ...DOCTOR_RULES, ...LOCK_RULES, ...LOG_RULES]);
