/** CHECK finds what is not as ADD left it. */
import { testDrift } from '../stacked/testing/drift.ts';
import { subject } from './testing.ts';

testDrift(subject, [
  [
    'another mode',
    ({ inside }) => inside('link', 'set', 'eth0', 'type', 'ipvlan', 'mode', 'l3'),
    /link eth0 should be in mode l2, but is in l3/,
  ],
]);
