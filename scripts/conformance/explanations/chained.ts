/** What is behind failures of plugins that change what an earlier one has made. */
import type { Explanation } from '../explanations.ts';

/** See the file's comment. */
export const CHAINED_EXPLANATIONS: readonly Explanation[] = [
  {
    pages: ['debian'],
    subjects: ['portmap'],
    checks: ['check/right-after-add'],
    text: 'CHECK looks for the rules of IPv4 in the chains of IPv6 too, whether there are addresses of both families or not, and so never succeeds.',
  },
  {
    pages: ['debian'],
    subjects: ['tuning'],
    checks: ['check/right-after-add'],
    text: 'ADD puts the name of the interface in place of IFNAME in the names of parameters, CHECK does not: it looks for a file that is not there.',
  },
  {
    subjects: ['firewall'],
    checks: [
      'contract/closed-output',
      'idempotence/del-without-previous-result',
      'idempotence/del-without-anything',
    ],
    text: 'DEL learns the addresses from the previous result. Without one it succeeds and leaves the rules.',
  },
  {
    subjects: ['firewall'],
    checks: ['check/tolerates-additions'],
    text: 'CHECK wants rules for every address of the result, those of interfaces that a later plugin has added included.',
  },
  {
    pages: ['reference'],
    subjects: ['portmap', 'firewall', 'bandwidth', 'tuning'],
    checks: ['gc/empty-list'],
    text: 'The plugin does not implement GC: it succeeds and does nothing.',
  },
  {
    pages: ['reference'],
    subjects: ['portmap', 'firewall', 'tuning'],
    checks: ['gc/frees-the-stale'],
    text: 'The plugin does not implement GC: it succeeds and does nothing.',
  },
  {
    subjects: ['bandwidth'],
    checks: ['leaks/node'],
    text: 'DEL deletes the ifb link. The queueing disciplines on the host end of the pair are left to the end of the pair.',
  },
  {
    subjects: ['bandwidth'],
    checks: ['idempotence/add-again'],
    text: 'DEL leaves the queueing disciplines on the host end of the pair, and a second ADD does not put up with those.',
  },
  {
    subjects: ['bandwidth'],
    checks: ['idempotence/del-with-broken-config'],
    text: 'DEL reads the configuration as strictly as ADD does.',
  },
  {
    subjects: ['bandwidth'],
    checks: ['check/notices-traffic-control'],
    text: 'CHECK is content with a host end that has any queueing discipline, such as the one that every link has without an own one.',
  },
  {
    subjects: ['sbr'],
    checks: ['chained/undoes', 'leaks/container'],
    text: 'DEL deletes the rules. The tables stay, and the routes that ADD has moved into them do not come back.',
  },
  {
    subjects: ['vrf'],
    checks: ['chained/undoes', 'leaks/container'],
    text: 'ADD moves the routes of the interface into the table of the VRF, and gives it back the IPv6 addresses that the kernel drops on the way. DEL does neither on the way back.',
  },
  {
    pages: ['debian'],
    subjects: ['vrf'],
    checks: ['check/after-del'],
    text: 'CHECK looks for the interface in the VRF, and succeeds whether it finds it or not.',
  },
  {
    subjects: ['vrf'],
    checks: ['idempotence/del-without-the-upstream-interface'],
    text: 'DEL fails when the interface is gone.',
  },
  {
    pages: ['debian'],
    subjects: ['sbr'],
    checks: ['idempotence/del-without-the-upstream-interface'],
    text: 'DEL fails when the interface is gone.',
  },
  {
    subjects: ['sbr'],
    checks: ['idempotence/add-again'],
    text: 'DEL leaves the tables. The next ADD takes the same number, for no rule has it, and finds its default route there.',
  },
  {
    subjects: ['sbr'],
    checks: ['check/after-del', 'check/notices-policy-rules'],
    text: 'CHECK looks at nothing.',
  },
  {
    subjects: ['sbr'],
    checks: [
      'idempotence/del-without-netns-variable',
      'idempotence/del-without-netns',
      'idempotence/del-without-netns-mount',
      'idempotence/del-without-anything',
    ],
    text: 'The file at CNI_NETNS is the lock: DEL opens it, makes an empty one where there is none, and fails since it is no namespace.',
  },
  {
    subjects: ['tuning'],
    checks: [
      'idempotence/del-without-netns-variable',
      'idempotence/del-without-netns',
      'idempotence/del-without-netns-mount',
      'idempotence/del-without-anything',
      'idempotence/del-without-the-upstream-interface',
    ],
    text: 'DEL removes the backup of the interface only after it has restored the interface. When that is gone, the file stays.',
  },
  {
    subjects: ['tuning'],
    checks: ['limits/disk-full', 'limits/file-size'],
    text: 'The backup is written under its final name. DEL cannot read one that was cut off, and leaves it.',
  },
  {
    // The points at which the kit kills release 1.1.1 miss it.
    pages: ['reference'],
    subjects: ['tuning'],
    checks: ['crash/add', 'crash/first-add'],
    text: 'The backup is written under its final name. The DEL after an ADD that was killed meanwhile cannot read it, and leaves it.',
  },
  {
    subjects: ['tuning'],
    checks: ['chained/undoes', 'leaks/container'],
    text: 'What was changed about the interface is changed back, kernel parameters are not.',
  },
  {
    subjects: ['portmap'],
    checks: ['concurrency/same-container'],
    isByChance: true,
    text: 'Each DEL looks whether the chain is there and then flushes it; another one may have deleted it in between.',
  },
];
