/** A server's place in the file system: for root alone, taken in one step, and given up only while it is still its own. */
import { chmodSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { makeDirectory } from '@heddle/sys';

/**
 * Listens at a path, in the place of whoever did before, such as an agent that is being replaced. Nobody but root finds
 * the socket, not even before its mode is set.
 *
 * @returns what takes the socket away, unless another has taken its place
 * @throws the error of whatever did not work; nothing is left then
 */
export async function listenAtPath(server: Server, path: string): Promise<Disposable> {
  const draft = `${path}.${process.pid}`;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  try {
    makeDirectory(dirname(path), 0o700);
    rmSync(draft, { force: true });
    server.once('error', reject);
    server.listen({ path: draft }, resolve);
    await promise;
    server.off('error', reject);
    chmodSync(draft, 0o600);
    const { ino } = statSync(draft);
    renameSync(draft, path);
    return {
      [Symbol.dispose]() {
        if (statSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true });
      },
    };
  } catch (error) {
    server.close();
    rmSync(draft, { force: true });
    throw error;
  }
}
