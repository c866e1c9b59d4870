/** Parameters of the kernel that routing needs. */
import type { KernelSession } from '@heddle/netlink';
import { SysError } from '@heddle/sys';
import type { DesiredSysctl } from '../calculate/desired.ts';

/** Sets those that are otherwise. */
export async function syncSysctls(
  { sysctl }: KernelSession,
  wanted: readonly DesiredSysctl[],
): Promise<{ readonly changes: number; readonly failures: ReadonlyMap<string, string> }> {
  const failures = new Map<string, string>();
  let changes = 0;
  for (const { key, name, value, insteadOf } of wanted) {
    try {
      const now = await sysctl.read(name);
      if (now === value || (insteadOf !== undefined && now !== insteadOf)) continue;
      await sysctl.write(name, value);
      changes++;
    } catch (error) {
      // A kernel without IPv6 has no such parameter; what needs it says so itself.
      if (SysError.is(error, 'ENOENT')) continue;
      failures.set(key, error instanceof Error ? error.message : String(error));
    }
  }
  return { changes, failures };
}
