/** What gives an attachment back the addresses and routes that its ADD had set. */
import type { Route as PromisedRoute } from '@heddle/cni';
import { type Addr, Prefix } from '@heddle/netaddr';
import { commandLine } from '../command-line.ts';
import type { PodView } from '../node/pods.ts';

/** Commands that put lost addresses of an attachment's interface back. */
export function addressesBack(
  { attachment, inside, result }: PodView,
  lost: readonly Addr[],
): readonly string[] {
  const { ifName } = attachment;
  if (inside === undefined || ifName === null) return [];
  return (result?.ips ?? [])
    .flatMap(({ address }) => Prefix.tryParse(address) ?? [])
    .filter(({ addr }) => lost.some((each) => each.equals(addr)))
    .map((prefix) =>
      commandInside(
        inside.path,
        'ip',
        'address',
        'add',
        String(prefix),
        'dev',
        ifName,
        ...(prefix.family === 6 ? ['nodad'] : []),
      ),
    );
}

/** Commands that put lost routes of an attachment back, by its gateways where a route names none (as plugins do). */
export function routesBack(
  { attachment, inside, result }: PodView,
  missing: readonly PromisedRoute[],
): readonly string[] {
  const { ifName } = attachment;
  if (inside === undefined || ifName === null) return [];
  return missing.flatMap(({ dst, gw }) => {
    const prefix = Prefix.tryParse(dst);
    if (prefix === undefined) return [];
    const gateway =
      gw ?? result?.ips?.find(({ address }) => Prefix.tryParse(address)?.family === prefix.family)?.gateway;
    const via = gateway === undefined ? [] : ['via', gateway];
    return [
      commandInside(
        inside.path,
        'ip',
        'route',
        'add',
        String(prefix.masked()),
        ...via,
        'dev',
        ifName,
        ...(via.length > 0 ? ['onlink'] : []),
      ),
    ];
  });
}

/** A command in a namespace. */
export function commandInside(path: string, ...words: readonly string[]): string {
  return commandLine('nsenter', `--net=${path}`, ...words);
}
