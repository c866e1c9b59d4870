import type { KernelSession } from '@heddle/netlink';
import { type Fd, flockAsync, makeDirectory, O, openFile, SysError } from '@heddle/sys';
import { RUNTIME_PATHS } from './numbers.ts';

/**
 * Waits for its turn to change rules, among all processes of Heddle; the next one's comes when the result is disposed
 * of, or the process ends. It keeps a change to what is right for the rules that it was made for: elements are deleted by
 * their key, whoever has it by then, and iptables-nft has no lock of its own.
 *
 * A directory is locked, so that no file is left. Only root can open it: else anybody could make pods wait.
 */
export async function lockRules({ nft }: KernelSession): Promise<Disposable> {
  using stack = new DisposableStack();
  // Those of this process are in order before they ask for the lock: waiting for that takes a thread each.
  stack.use(await nft.turn());
  await flockAsync(stack.use(openDirectory()), 'exclusive');
  return stack.move();
}

function openDirectory(): Fd {
  const open = () => openFile(RUNTIME_PATHS.rules, O.RDONLY | O.DIRECTORY, 0);
  try {
    return open();
  } catch (error) {
    if (!SysError.is(error, 'ENOENT')) throw error;
  }
  makeDirectory(RUNTIME_PATHS.rules, 0o700);
  return open();
}
