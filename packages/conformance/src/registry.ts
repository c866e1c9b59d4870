/** All checks, in the order in which they run. */
import type { Check } from './check.ts';
import { CHAINED_CHECKS } from './suites/chained.ts';
import { CHECK_CHECKS } from './suites/check.ts';
import { CONCURRENCY_CHECKS } from './suites/concurrency.ts';
import { ENVIRONMENT_CHECKS } from './suites/contract/environment.ts';
import { INPUT_CHECKS } from './suites/contract/input.ts';
import { OUTPUT_CHECKS } from './suites/contract/output.ts';
import { VERSION_CHECKS } from './suites/contract/version.ts';
import { CRASH_CHECKS } from './suites/crash.ts';
import { DELEGATION_CHECKS } from './suites/delegation.ts';
import { GC_CHECKS } from './suites/gc.ts';
import { IDEMPOTENCE_CHECKS } from './suites/idempotence.ts';
import { INTERFACE_CHECKS } from './suites/interface.ts';
import { IPAM_CHECKS } from './suites/ipam.ts';
import { LEAK_CHECKS } from './suites/leaks.ts';
import { LIMIT_CHECKS } from './suites/limits.ts';
import { STATUS_CHECKS } from './suites/status.ts';

/** See the file's comment. */
export const CHECKS: readonly Check[] = [
  ...VERSION_CHECKS,
  ...ENVIRONMENT_CHECKS,
  ...INPUT_CHECKS,
  ...OUTPUT_CHECKS,
  ...INTERFACE_CHECKS,
  ...CHAINED_CHECKS,
  ...IPAM_CHECKS,
  ...IDEMPOTENCE_CHECKS,
  ...CHECK_CHECKS,
  ...GC_CHECKS,
  ...STATUS_CHECKS,
  ...DELEGATION_CHECKS,
  ...CONCURRENCY_CHECKS,
  ...LEAK_CHECKS,
  ...LIMIT_CHECKS,
  ...CRASH_CHECKS,
];
