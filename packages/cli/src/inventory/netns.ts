import { openNetns, SysError } from '@heddle/sys';

/** Whether there is a network namespace at a path. */
export function hasNetns(path: string): boolean {
  try {
    using _netns = openNetns(path);
    return true;
  } catch (error) {
    if (error instanceof SysError) return false;
    throw error;
  }
}
