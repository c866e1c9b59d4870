/** Telling of files that appear in a directory. */
import { IN, inotifyAdd, inotifyCreate, inotifyDrain, makeDirectory, watch } from '@heddle/sys';

/**
 * Calls back with the name of every file that is put into a directory, which is made when it is not there.
 *
 * @param events what else to tell of, as `IN` has it
 */
export function watchNames(
  directory: string,
  onName: (name: string) => void,
  events: number = IN.MOVED_TO,
): Disposable {
  makeDirectory(directory, 0o700);
  const stack = new DisposableStack();
  const inotify = stack.use(inotifyCreate());
  inotifyAdd(inotify, directory, events);
  stack.use(
    watch(inotify, () => {
      for (const { name } of inotifyDrain(inotify)) onName(name);
    }),
  );
  return stack;
}
