/** A view for programs: what `heddle show -o json` prints. */
import { formatKey } from '@heddle/netlink';
import { attachmentJson } from '../inventory/json.ts';
import { dataText } from './ruleset.ts';
import { type AttachmentView, cachedPlugins, type Side } from './view.ts';

/** The object for one attachment. */
export function viewJson(view: AttachmentView) {
  const { attachment, container, host, nftables, reservations, cache } = view;
  return {
    ...attachmentJson(attachment),
    container: container === undefined ? null : sideJson(container),
    host: sideJson(host),
    nftables: {
      rules: nftables.rules.map(({ family, table, chain, handle, comment = null }) => ({
        ...{ family, table, chain, handle, comment },
      })),
      elements: nftables.elements.map(({ family, table, set, key, data, comment = null }) => ({
        ...{
          family,
          table,
          set,
          key: formatKey(key),
          data: data === undefined ? null : dataText(data),
          comment,
        },
      })),
    },
    reservations: reservations.map(({ addr, createdAt, path }) => ({
      ...{ address: addr, createdAt: new Date(createdAt).toISOString(), path },
    })),
    cache:
      cache === undefined
        ? null
        : {
            plugins: cachedPlugins(cache),
            args: cache.args ?? [],
            capabilityArgs: cache.capabilityArgs ?? {},
            result: cache.result ?? null,
          },
  };
}

function sideJson({ links, addresses, routes, names }: Side) {
  const nameOf = (index: number | undefined) => (index === undefined ? null : (names.get(index) ?? null));
  return {
    links: links.map(({ index, name, kind = null, mac, mtu, up, operstate, master, alias = null }) => ({
      ...{
        index,
        name,
        kind,
        mac: mac?.toString() ?? null,
        mtu,
        up,
        operstate,
        master: nameOf(master),
        alias,
      },
    })),
    addresses: addresses.map(({ link, prefix, tentative, dadFailed }) => ({
      ...{ link: nameOf(link), address: prefix.toString(), tentative, dadFailed },
    })),
    routes: routes.map(({ link, dst, gateway, via, source, metric, table, type }) => ({
      ...{ link: nameOf(link), dst: dst.toString(), gateway: (gateway ?? via)?.toString() ?? null },
      ...{ source: source?.toString() ?? null, metric: metric ?? null, table, type },
    })),
  };
}
