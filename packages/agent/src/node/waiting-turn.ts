/** Who may do, or make void, what waits in a directory: one process at a time, also while an agent replaces another. */
import { type Fd, flockAsync, makeDirectory, O, openFile } from '@heddle/sys';

/** Waits for the turn, which is a lock of the directory itself; it ends with the result's disposal, or with the process. */
export async function waitingTurn(directory: string): Promise<Fd> {
  makeDirectory(directory, 0o700);
  const file = openFile(directory, O.RDONLY, 0);
  try {
    await flockAsync(file, 'exclusive', {});
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}
