/** The rules of `heddle audit`, the likeliest causes first. */
import type { Rule } from '../rule.ts';

/** Every rule that looks at configuration files. */
export const AUDIT_RULES: readonly Rule[] = [];
