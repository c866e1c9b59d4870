import type { KernelSession } from '../../session/session.ts';

/** The routes of a family in all tables as `ip` would write them, but for what belongs to link-local addresses. */
export async function routesOf(session: KernelSession, family: 4 | 6): Promise<string[]> {
  const names = new Map((await session.links.list()).map(({ index, name }) => [index, name]));
  const routes = await session.routes.list({ family });
  return routes
    .filter(({ dst, type }) => !dst.addr.isLinkLocal && type !== 'multicast')
    .map(({ type, dst, gateway, link, table, scope, metric, source, protocol }) =>
      [
        type === 'unicast' ? '' : type,
        dst,
        gateway && `via ${gateway}`,
        link !== undefined && `dev ${names.get(link)}`,
        table !== 254 && `table ${table}`,
        scope !== 0 && `scope ${scope}`,
        metric && `metric ${metric}`,
        source && `src ${source}`,
        `proto ${protocol}`,
      ]
        .filter(Boolean)
        .join(' '),
    );
}
