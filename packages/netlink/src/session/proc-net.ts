/** What `/proc/net` says and netlink does not — proc_pid_net(5) */
import { type NetnsHandle, readFileIn } from '@heddle/sys';

/** The files under `/proc/net`, as a namespace sees them. */
export interface ProcNet {
  /**
   * The text of a file.
   *
   * @example session.procNet.read('ip_tables_names') // 'nat\nfilter\n'
   * @throws {SysError} ENOENT when there is no such file
   */
  read(name: string): string;
}

/** The files of a namespace of this machine; of the caller's own for `undefined`. */
export function kernelProcNet(netns: () => NetnsHandle | undefined): ProcNet {
  // The thread's own: it is the thread that is in the namespace while it opens the file.
  return { read: (name) => readFileIn(netns(), `/proc/thread-self/net/${name}`) };
}
