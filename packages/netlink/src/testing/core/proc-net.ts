import { errnoNumber, SysError } from '@heddle/sys';
import type { ProcNet } from '../../session/proc-net.ts';

/** The fake kernel has no files: everything that it knows, netlink and sysctls say. */
export const FAKE_PROC_NET: ProcNet = {
  read(name) {
    throw new SysError({
      syscall: 'open',
      errnum: errnoNumber('ENOENT') ?? 0,
      path: `/proc/net/${name}`,
      message: `open /proc/net/${name}: ENOENT (the fake kernel has no files there)`,
    });
  },
};
