/** What holds for every stacked link, shown of ipvlan ones. */
import { testVerbs } from '../stacked/testing/verbs.ts';
import { subject } from './testing.ts';

testVerbs(subject);
