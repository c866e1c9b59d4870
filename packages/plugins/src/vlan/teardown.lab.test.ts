/** What holds for every stacked link, shown of VLANs. */
import { testTeardown } from '../stacked/testing/teardown.ts';
import { subject } from './testing.ts';

testTeardown(subject);
