/** What holds for every stacked link, shown of macvlan ones. */
import { testVerbs } from '../stacked/testing/verbs.ts';
import { subject } from './testing.ts';

testVerbs(subject);
