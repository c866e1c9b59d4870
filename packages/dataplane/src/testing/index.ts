/** What tests of other packages need of this one. */
export { FakeFirewalld } from './fake-firewalld.ts';
export { ProgramPath } from './program-path.ts';
