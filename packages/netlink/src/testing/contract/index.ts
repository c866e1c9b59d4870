/** All that the fake kernel and a real one are held to. */
import { addressCases } from './addresses4.ts';
import { ipv6AddressCases } from './addresses6.ts';
import { bridgeCases } from './bridges.ts';
import type { Case } from './case.ts';
import { linkKindCases } from './link-kinds.ts';
import { linkCases } from './links.ts';
import { neighbourCases } from './neighbours.ts';
import { nftElementCases } from './nft-elements.ts';
import { nftRuleCases } from './nft-rules.ts';
import { routeCases } from './routes.ts';
import { ruleCases } from './rules.ts';
import { sessionCases } from './session.ts';
import { trafficCases } from './traffic.ts';

/** The cases by the table that they are about. */
export const CONTRACT: Readonly<Record<string, readonly Case[]>> = {
  links: linkCases,
  'kinds of links': linkKindCases,
  bridges: bridgeCases,
  addresses: addressCases,
  'IPv6 addresses': ipv6AddressCases,
  routes: routeCases,
  rules: ruleCases,
  neighbours: neighbourCases,
  'traffic control': trafficCases,
  'nftables rules': nftRuleCases,
  'nftables elements': nftElementCases,
  'sysctls and events': sessionCases,
};

export type { Case, Place } from './case.ts';
