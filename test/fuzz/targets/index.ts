/** All that is fuzzed. Loaded after the counters are there; whoever imports this sooner gets modules without any. */
import type { Target } from '../engine/target.ts';
import { CONTRACT_TARGETS } from './contract.ts';
import { entryTargets } from './entry.ts';
import { HANDOVER_TARGETS } from './handover.ts';
import { NETFILTER_TARGETS } from './netfilter.ts';
import { NETWORK_TARGETS } from './networks.ts';
import { ROUTE_TARGETS } from './route.ts';
import { TEXT_TARGETS } from './texts.ts';

/** By groups of what they read. */
export const TARGETS: readonly Target[] = [
  ...ROUTE_TARGETS,
  ...NETFILTER_TARGETS,
  ...CONTRACT_TARGETS,
  ...HANDOVER_TARGETS,
  ...NETWORK_TARGETS,
  ...TEXT_TARGETS,
  ...entryTargets(),
];

/** The target of that name. @throws {Error} when there is none */
export function targetNamed(name: string): Target {
  const found = TARGETS.find((target) => target.name === name);
  if (found === undefined)
    throw new Error(`there is no target ${name}: ${TARGETS.map((each) => each.name).join(', ')}`);
  return found;
}
