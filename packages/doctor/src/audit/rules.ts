/** The rules of `heddle audit`, the likeliest causes first: what keeps a file from being read comes before what is in it. */
import type { AuditRule } from './audit-rule.ts';
import { BANDWIDTH_RULES } from './rules/bandwidth.ts';
import { CAPABILITY_RULES } from './rules/capability.ts';
import { CHAIN_RULES } from './rules/chain.ts';
import { CONTRACT_RULES } from './rules/contract.ts';
import { ENCODING_RULES } from './rules/encoding.ts';
import { EXECUTABLE_RULES } from './rules/executable.ts';
import { GATEWAY_RULES } from './rules/gateway.ts';
import { HOST_RULES } from './rules/host.ts';
import { MISUSE_RULES } from './rules/misuse.ts';
import { MTU_RULES } from './rules/mtu.ts';
import { OVERLAP_RULES } from './rules/overlap.ts';
import { RANGE_RULES } from './rules/range.ts';
import { RESERVED_RULES } from './rules/reserved.ts';
import { SCHEMA_RULES } from './rules/schema.ts';
import { SELECTION_RULES } from './rules/selection.ts';
import { SYNTAX_RULES } from './rules/syntax.ts';
import { SYSCTL_RULES } from './rules/sysctl.ts';
import { VERSION_RULES } from './rules/version.ts';

/** Every rule that looks at configuration files. */
export const AUDIT_RULES: readonly AuditRule[] = [
  ...ENCODING_RULES,
  ...SYNTAX_RULES,
  ...CONTRACT_RULES,
  ...VERSION_RULES,
  ...SELECTION_RULES,
  ...EXECUTABLE_RULES,
  ...CHAIN_RULES,
  ...SCHEMA_RULES,
  ...RANGE_RULES,
  ...GATEWAY_RULES,
  ...OVERLAP_RULES,
  ...MISUSE_RULES,
  ...SYSCTL_RULES,
  ...CAPABILITY_RULES,
  ...BANDWIDTH_RULES,
  ...MTU_RULES,
  ...HOST_RULES,
  ...RESERVED_RULES,
];
