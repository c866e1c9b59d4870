/**
 * The previous result in the result of a plugin that makes an interface: what an earlier plugin of the chain has made
 * must be passed on (specification 1.1.0, section 5, "ADD Success").
 */
import type { Interface, IpConfig, Result } from '../result.ts';

/**
 * A plugin's result behind the previous one. Interfaces and addresses that the plugin lists as well are its own; of name
 * resolution the plugin's own counts, where it has any.
 */
export function passOn(previous: Result, own: Result): Result {
  const earlier = previous.interfaces ?? [];
  const mine = own.interfaces ?? [];
  const kept = earlier.filter((each) => !mine.some((other) => sameInterface(each, other)));
  const interfaces = [...kept, ...mine];
  const place = (each: Interface | undefined): number =>
    interfaces.findIndex((other) => each !== undefined && sameInterface(each, other));
  const moved = (ips: readonly IpConfig[] = [], from: readonly Interface[]) =>
    ips.map((ip) => (ip.interface === undefined ? ip : { ...ip, interface: place(from[ip.interface]) }));
  const before = moved(previous.ips, earlier);
  const after = moved(own.ips, mine);
  const ips = [
    ...before.filter(({ address }) => !after.some((other) => other.address === address)),
    ...after,
  ];
  const routes = [...(previous.routes ?? []), ...(own.routes ?? [])];
  const unique = routes.filter((route, at) => routes.findIndex((other) => same(route, other)) === at);
  const dns = isEmpty(own.dns) ? previous.dns : own.dns;
  return {
    ...own,
    ...(interfaces.length > 0 && { interfaces }),
    ...(ips.length > 0 && { ips }),
    ...(unique.length > 0 && { routes: unique }),
    ...(dns !== undefined && { dns }),
  };
}

function sameInterface(a: Interface, b: Interface): boolean {
  return a.name === b.name && (a.sandbox ?? '') === (b.sandbox ?? '');
}

function same(a: object, b: object): boolean {
  return JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
}

function isEmpty(dns: Result['dns']): boolean {
  return dns === undefined || Object.values(dns).every((value) => value.length === 0);
}
