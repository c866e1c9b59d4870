import { openNetns, SysError } from '@heddle/sys';

/** Whether there is a network namespace at a path; one that cannot be looked at counts as being there. */
export function hasNetns(path: string): boolean {
  try {
    using _netns = openNetns(path);
    return true;
  } catch (error) {
    return !SysError.is(error, 'ENOENT', 'ENOTDIR', 'EINVAL');
  }
}
