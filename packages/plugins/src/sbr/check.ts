/** CHECK: each address has its rule, and its table the routes that ADD put there. */
import type { CheckCall } from '@heddle/cni/plugin';
import { type Addr, Prefix } from '@heddle/netaddr';
import type { Route } from '@heddle/netlink';
import { type Findings, reportDrift, requirePrevResult } from '../interface/findings.ts';
import { gatewaysIn } from '../interface/route-tables.ts';
import { gatewaysOf, type SbrConfig } from './config.ts';
import { type FoundRule, findRules } from './rules-of.ts';
import { type Source, sourcesOf } from './sources.ts';

/** See the file's comment. What a table of the configuration's own holds is not for this plugin to say. */
export async function check({ config, container, ifName, prevResult }: CheckCall<SbrConfig>): Promise<void> {
  const gateways = gatewaysOf(config);
  const result = requirePrevResult(prevResult);
  const sources = sourcesOf(result, ifName);
  const link = await container.links.find(ifName);
  if (link === undefined) return reportDrift([`link ${ifName} is missing`]);
  const { table } = config;
  const addresses = sources.map(({ prefix }) => prefix.addr);
  const found = await findRules(container, { addresses, link: link.index, table });
  reportDrift(
    sources.flatMap((source) => {
      const { addr, family } = source.prefix;
      const own = found.find(({ rule }) => rule.from?.addr.equals(addr));
      if (own === undefined) {
        return [
          `the rule for packets from ${addr}${table === undefined ? '' : ` to table ${table}`} is missing`,
        ];
      }
      const gateway = gateways[family] ?? source.gateway;
      return table === undefined ? checkTable(own, source, gateway) : [];
    }),
  );
}

function checkTable({ rule, routes }: FoundRule, { prefix }: Source, gateway: Addr | undefined): Findings {
  const missing = (what: string) => `the route to ${what} is missing in table ${rule.table}`;
  const has = (wanted: (route: Route) => boolean) => routes.some(wanted);
  const network = prefix.masked();
  const isDefault = (route: Route) =>
    route.dst.bits === 0 && (gateway === undefined || gatewaysIn(route).some((each) => each.equals(gateway)));
  return [
    ...(prefix.isSingle || has(({ dst }) => dst.equals(network)) ? [] : [missing(`${network}`)]),
    ...(gateway === undefined || has(isDefault) ? [] : [missing(`${defaultFor(prefix)} via ${gateway}`)]),
  ];
}

function defaultFor({ family }: Prefix): Prefix {
  return family === 4 ? Prefix.DEFAULT4 : Prefix.DEFAULT6;
}
