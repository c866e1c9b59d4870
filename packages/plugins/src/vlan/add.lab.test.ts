/** What holds for every stacked link, shown of VLANs. */
import { testVerbs } from '../stacked/testing/verbs.ts';
import { subject } from './testing.ts';

testVerbs(subject);
