/** Brings the lab's kernel, where tests will need it. Part of the setup. */
import { fetchKernel, findKernel } from './kernel.ts';
import { missingLinkKinds } from './link-kinds.ts';

if (process.arch === 'x64' && findKernel() === undefined && missingLinkKinds().length > 0) {
  const { release } = fetchKernel();
  console.log(`setup: unpacked the kernel ${release} for tests that need what this one lacks`);
}
