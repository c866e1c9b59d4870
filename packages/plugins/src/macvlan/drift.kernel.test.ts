/** CHECK finds what is not as ADD left it. */
import { testDrift } from '../stacked/testing/drift.ts';
import { subject } from './testing.ts';

testDrift(subject, [
  [
    'another hardware address',
    ({ inside }) => inside('link', 'set', 'eth0', 'address', '02:00:00:00:00:99'),
    /eth0 should have the hardware address .*, but has 02:00:00:00:00:99/,
  ],
  [
    'another mode',
    ({ inside }) => inside('link', 'set', 'eth0', 'type', 'macvlan', 'mode', 'private'),
    /link eth0 should be in mode bridge, but is in private/,
  ],
]);
