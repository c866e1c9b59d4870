/** What many plugins of the reference have in common: their skeleton, their helpers, what none of them does. */
import type { Explanation } from '../explanations.ts';

/** Plugins that make an interface and delegate their addresses. */
const DELEGATING = ['bridge', 'ptp', 'macvlan', 'ipvlan', 'vlan', 'host-device', 'dummy', 'tap'] as const;

/** See the file's comment. */
export const COMMON_EXPLANATIONS: readonly Explanation[] = [
  {
    subjects: 'all',
    checks: ['contract/version-echo'],
    text: 'The skeleton of the plugins does not read stdin for VERSION, and answers in the newest version that its library knows.',
  },
  {
    subjects: 'all',
    checks: ['contract/error-version'],
    text: 'The error object of the library has no member `cniVersion`.',
  },
  {
    pages: ['reference'],
    subjects: [...DELEGATING, 'loopback', 'portmap', 'firewall'],
    checks: ['contract/own-netns'],
    text: 'The skeleton compares the two namespaces when the work is done: the result is on stdout, the error follows it, and what was made stays.',
  },
  {
    pages: ['debian'],
    subjects: [
      'bridge',
      'ptp',
      'macvlan',
      'ipvlan',
      'vlan',
      'host-device',
      'loopback',
      'portmap',
      'firewall',
    ],
    checks: ['contract/own-netns'],
    text: 'This release does not compare the two namespaces.',
  },
  {
    subjects: DELEGATING.filter((name) => name !== 'ipvlan'),
    checks: ['interface/previous-result'],
    text: 'The plugin does not look at a previous result.',
  },
  {
    subjects: [...DELEGATING, 'loopback', 'vrf'],
    checks: ['idempotence/del-without-netns-mount'],
    text: 'A path that exists and is no namespace is an error of DEL, unlike one that does not exist.',
  },
  {
    pages: ['reference'],
    subjects: DELEGATING.filter((name) => name !== 'dummy'),
    checks: ['check/tolerates-routes'],
    text: 'CHECK looks for the routes of the result in the main table only, whatever table the result names.',
  },
  {
    subjects: DELEGATING,
    checks: ['check/tolerates-additions'],
    text: "CHECK takes every address of the result for one of the plugin's own interface, whatever interface the result says it is on.",
  },
  {
    pages: ['reference'],
    subjects: DELEGATING,
    checks: ['delegation/forwards-gc', 'delegation/failed-gc'],
    text: 'The plugin does not implement GC, and so does not forward it: it succeeds and does nothing.',
  },
  {
    subjects: DELEGATING,
    checks: ['delegation/failed-add-del'],
    text: 'DEL of the delegate is run only when something fails after its ADD has succeeded.',
  },
  {
    subjects: ['bridge', 'ptp', 'macvlan', 'vlan'],
    checks: ['delegation/failed-del-goes-on'],
    text: 'DEL stops at the failure of the delegate, and the rest stays: the rules for masquerading, and the link where that comes later.',
  },
];
