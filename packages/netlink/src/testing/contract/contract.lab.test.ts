import { testContract } from './real-kernel.ts';

// What any kernel has is tested outside of the lab, where it is quicker.
await testContract(({ needs = [] }) => needs.length > 0);
