/** Brings the kernel of the lab where tests will need it. A part of `setup.sh`; prints a line for what it did. */
import { fetchKernel, findKernel } from './lab/kernel.ts';
import { missingLinkKinds } from './lab/link-kinds.ts';

const missing = findKernel() === undefined && process.arch === 'x64' ? missingLinkKinds() : [];
if (missing.length > 0) {
  try {
    const { release } = fetchKernel();
    console.log(
      `setup: unpacked the kernel ${release}, for tests with what this one lacks: ${missing.join(', ')}`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split('\n').at(-1) : error;
    console.error(`setup: not installed: a kernel for tests with ${missing.join(', ')}: ${reason}`);
    if (process.env['CI'] !== undefined) process.exit(1);
  }
}
