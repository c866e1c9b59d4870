import { ErrorList } from '@heddle/errors';
import type { KernelSession } from '@heddle/netlink';
import { deleteDevices } from './kernel/devices.ts';
import { listKind } from './kernel/listing.ts';
import { RULE_KINDS, syncRules } from './kernel/rules.ts';

/**
 * Takes away all that routing made on the node: routes, the overlay devices with all that is on them, rules. Parameters
 * of the kernel stay, for others may rely on them.
 *
 * @throws the problems, when all that could be done is
 */
export async function withdrawRouting(session: KernelSession): Promise<void> {
  const problems: unknown[] = [];
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      problems.push(error);
    }
  };
  await attempt(async () => {
    const { found } = await listKind(session, { indexes: new Map(), names: new Map() }, 'route');
    await session.batch(found.filter(({ isOwned }) => isOwned).map(({ remove }) => remove()));
  });
  await attempt(() => deleteDevices(session));
  for (const kind of RULE_KINDS) await attempt(() => syncRules(session, kind, undefined));
  ErrorList.throwIfAny('withdraw routing', problems);
}
