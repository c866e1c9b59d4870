/** A network namespace of its own for one command, under a name that `ip netns` knows too. */
import { join } from 'node:path';
import { openSession } from '@heddle/netlink';
import {
  bindNetns,
  createNetns,
  makeDirectory,
  type NetnsHandle,
  shareMount,
  unbindNetns,
} from '@heddle/sys';

/** See the file's comment. Its loopback is up. */
export interface FreshNetns extends Disposable {
  readonly handle: NetnsHandle;
  readonly path: string;
}

/**
 * Makes a namespace; disposing of it takes its name away, and with its last process it is gone.
 *
 * @param directory where names of namespaces are kept
 * @throws {SysError} EEXIST when the name is taken
 */
export async function freshNetns(directory: string, name: string): Promise<FreshNetns> {
  makeDirectory(directory, 0o755);
  shareMount(directory);
  const path = join(directory, name);
  using stack = new DisposableStack();
  const handle = stack.use(createNetns());
  bindNetns(handle, path);
  stack.defer(() => unbindNetns(path));
  {
    using inside = openSession({ netns: handle });
    await inside.links.set('lo', { up: true });
  }
  const owned = stack.move();
  return { handle, path, [Symbol.dispose]: () => owned.dispose() };
}
