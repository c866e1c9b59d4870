/** What holds for every stacked link, shown of ipvlan ones. */
import { testTeardown } from '../stacked/testing/teardown.ts';
import { subject } from './testing.ts';

testTeardown(subject);
