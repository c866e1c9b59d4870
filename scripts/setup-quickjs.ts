/** Brings the sources of the plugins' engine. A part of `setup.sh`; prints a line for what it did. */
import { fetchQuickjs, hasQuickjs, QUICKJS } from './quickjs.ts';

if (!hasQuickjs()) {
  try {
    fetchQuickjs();
    console.log(`setup: unpacked the sources of QuickJS in ${QUICKJS}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split('\n').at(-1) : error;
    console.error(`setup: the sources of QuickJS could not be brought: ${reason}`);
    process.exit(1);
  }
}
