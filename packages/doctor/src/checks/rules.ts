/** The checks of a node and all rules of `heddle doctor`, the likeliest causes first. */
import type { Rule } from '../rule.ts';
import * as walk from '../walk/rules.ts';
import { addressesCheck } from './addresses.ts';
import { allowListCheck } from './allow-list.ts';
import { attachmentsCheck } from './attachments.ts';
import { bridgeAddressCheck } from './bridge-address.ts';
import type { NodeCheck } from './check.ts';
import { conntrackCheck } from './conntrack.ts';
import { directoriesCheck } from './directories.ts';
import { forwardingCheck } from './forwarding.ts';
import { leftoversCheck } from './leftovers.ts';
import { mtuCheck } from './mtu.ts';
import { networksCheck } from './networks.ts';
import { offloadCheck } from './offload.ts';
import { outOfReachCheck } from './out-of-reach.ts';
import { poolsCheck } from './pools.ts';
import { programsCheck } from './programs.ts';
import { publishedPortsCheck } from './published-ports.ts';
import { unappliedCheck } from './unapplied.ts';

/** What explains that packets get lost. */
const CAUSES: readonly NodeCheck[] = [
  directoriesCheck,
  allowListCheck,
  networksCheck,
  programsCheck,
  outOfReachCheck,
  bridgeAddressCheck,
  poolsCheck,
  attachmentsCheck,
  forwardingCheck,
  conntrackCheck,
];

/** What a lost packet explains better. */
const OTHERS: readonly NodeCheck[] = [
  addressesCheck,
  mtuCheck,
  publishedPortsCheck,
  leftoversCheck,
  offloadCheck,
  unappliedCheck,
];

/** In the order in which a fault of one explains faults of those after it. */
export const NODE_CHECKS: readonly NodeCheck[] = [...CAUSES, ...OTHERS];

/** See the file's comment. */
export const DOCTOR_RULES: readonly Rule[] = [
  ...CAUSES.flatMap(({ rules }) => rules),
  walk.firewallDrops,
  walk.lostOnLink,
  walk.lostInRouting,
  walk.lostReturning,
  walk.notMasqueraded,
  ...OTHERS.flatMap(({ rules }) => rules),
  walk.lostBeyond,
];
