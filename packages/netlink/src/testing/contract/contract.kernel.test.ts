import { testContract } from './real-kernel.ts';

await testContract(() => true);
