/** What is behind failures of plugins that make an interface, where they have them for themselves. */
import type { Explanation } from '../explanations.ts';

/** Whoever masquerades, in release 1.1.1. */
const UNMASKED_DEL =
  'An ADD that is killed before it masquerades has made the interface, and so its DEL deletes the rules of its addresses. iptables 1.8.9 ends with 2 because their chain was never made; the plugin forgives only 1, and that DEL fails. The next one no longer finds the interface, and succeeds.';

/** See the file's comment. */
export const INTERFACE_EXPLANATIONS: readonly Explanation[] = [
  {
    subjects: ['bridge'],
    checks: ['interface/only-its-own'],
    text: 'The chain for masquerading is named after network and container, not after the interface: DEL of one interface removes the chain that the rules of the other one still jump to, and iptables refuses.',
  },
  {
    subjects: ['ptp'],
    checks: ['interface/second-interface'],
    text: 'The host end of every pair gets the gateway, and the container a route to it by its own end: the second interface would need the same route once more.',
  },
  {
    subjects: ['bridge', 'ptp'],
    checks: [
      'idempotence/del-without-netns-variable',
      'idempotence/del-without-netns',
      'idempotence/del-without-anything',
      'idempotence/del-without-interface',
    ],
    text: 'DEL learns the addresses from the interface in the container. When it is gone, or not named, the rules for masquerading stay.',
  },
  {
    subjects: ['bridge', 'ptp'],
    checks: ['check/notices-firewall-rules'],
    text: 'CHECK does not look at the rules for masquerading.',
  },
  {
    pages: ['reference'],
    subjects: ['bridge', 'ptp'],
    checks: ['gc/frees-the-stale', 'gc/empty-list'],
    text: 'The plugin does not implement GC: it succeeds and does nothing. The rules for masquerading stay.',
  },
  {
    subjects: ['bridge'],
    checks: ['delegation/failed-add-leaves-nothing'],
    text: 'A failed ADD leaves the pair of links to the DEL that runtimes are to send.',
  },
  {
    subjects: ['bridge'],
    checks: ['concurrency/first-of-all'],
    isByChance: true,
    text: "The bridge's hardware address is read for the result before it is pinned, and changes when other ports join: CHECK compares it, and fails for good.",
  },
  {
    subjects: ['bridge', 'ptp'],
    checks: ['crash/del'],
    text: 'DEL takes the interface away before the rules for masquerading. Killed in between, the next one no longer learns the addresses, and the rules stay; GC does not take them away either.',
  },
  {
    pages: ['debian'],
    subjects: ['bridge', 'ptp'],
    checks: ['crash/add'],
    text: UNMASKED_DEL,
  },
  {
    pages: ['debian'],
    subjects: ['ptp'],
    checks: ['crash/first-add'],
    text: UNMASKED_DEL,
  },
  {
    pages: ['debian'],
    subjects: ['bridge'],
    checks: ['crash/first-add'],
    text: 'A bridge whose hardware address was never pinned has none once its last port has gone. Killed before that, and after a DEL, the plugin finds such a bridge, pins the address that it has read before the new port joined, and fails; so does every ADD after it, as long as the bridge has no other port.',
  },
  {
    subjects: ['host-device'],
    checks: [
      'contract/hostile-input',
      'idempotence/del-three-times',
      'idempotence/del-first',
      'idempotence/del-on-a-fresh-node',
      'idempotence/del-without-interface',
      'idempotence/del-with-broken-config',
      'idempotence/del-is-complete-at-once',
      'concurrency/same-container',
      'crash/add',
      'crash/first-add',
    ],
    text: 'DEL fails when the interface is not in the container: when ADD did not get as far, and when another DEL has given the device back.',
  },
  {
    subjects: ['host-device'],
    checks: ['idempotence/del-without-netns'],
    text: 'DEL fails when the path of the namespace does not exist. Only an empty CNI_NETNS is taken for a container that is gone.',
  },
  {
    pages: ['debian'],
    subjects: ['host-device'],
    checks: ['interface/taken-name', 'leaks/failed-add'],
    text: 'ADD moves the device into the container before it renames it. When the name is taken there, the device stays in the container.',
  },
  {
    pages: ['reference'],
    subjects: ['tap'],
    checks: ['interface/taken-name'],
    text: 'The failure to rename the tap is not minded: the addresses go to the interface that has the name, and the tap stays under a name of its own.',
  },
  {
    pages: ['reference'],
    subjects: ['tap'],
    checks: ['check/notices-hardware-address'],
    text: 'CHECK does not compare the hardware address.',
  },
  {
    pages: ['reference'],
    subjects: ['tap'],
    checks: ['crash/add', 'crash/first-add'],
    text: 'The tap is made under a name of chance and renamed later. DEL looks for the final name only.',
  },
  {
    pages: ['reference'],
    subjects: ['dummy'],
    checks: ['check/notices-route'],
    text: 'CHECK does not look at routes.',
  },
  {
    subjects: ['ipvlan'],
    checks: ['interface/previous-result'],
    text: 'With an IPAM plugin, it does not look at a previous result.',
  },
  {
    subjects: ['vlan'],
    checks: ['idempotence/del-with-broken-config'],
    text: 'DEL reads the configuration as strictly as ADD does.',
  },
  {
    subjects: ['vlan'],
    checks: ['delegation/failed-add'],
    text: "The delegate's error is put into a text, and its code becomes 999.",
  },
  {
    subjects: ['vlan'],
    checks: ['delegation/failed-add-leaves-nothing'],
    text: 'A failed ADD leaves the link to the DEL that runtimes are to send; its master listens for GVRP as long as it has a VLAN.',
  },
  {
    subjects: ['ipvlan', 'vlan'],
    checks: ['interface/taken-name', 'leaks/failed-add'],
    text: 'The link is made in the container under a name of chance and renamed then. When the name is taken, it stays under the other one.',
  },
  {
    pages: ['reference'],
    subjects: ['ipvlan'],
    checks: ['concurrency/coming-and-going'],
    isByChance: true,
    text: 'DEL gives the addresses back before it takes the interface away. Who gets one of them meanwhile cannot use it: the kernel refuses an address that another link of the master has.',
  },
  {
    subjects: ['loopback'],
    checks: [
      'contract/result-0.1.0',
      'contract/result-0.2.0',
      'contract/result-0.3.0',
      'contract/result-0.3.1',
      'contract/result-0.4.0',
    ],
    text: 'Without a previous result the plugin prints one of the form of 1.0.0, whatever version it says it is.',
  },
];
