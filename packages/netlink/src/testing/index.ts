export type { Failure, SeenRequest } from './core/failures.ts';
export type { SentFrame } from './core/packets.ts';
export { dumpDifference } from './dump/dump.ts';
export { FakeKernel, type FakeKernelOptions, type FakeSend } from './fake-kernel.ts';
export { TestNetns } from './test-netns.ts';
