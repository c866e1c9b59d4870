/** The kernel parameters of a fake namespace, with what writing them does — net/ipv4/devinet.c, net/ipv6/addrconf.c */
import { errnoNumber, SysError } from '@heddle/sys';
import { pathOf, type Sysctl } from '../../session/sysctl.ts';
import { applyDisableIpv6, applyForwarding6 } from '../address/settings.ts';
import type { Namespace } from '../core/namespace.ts';
import { findLink } from '../link/find.ts';
import { watchLinks } from '../link/watch.ts';
import type { ConfFamily, ConfPlace } from './settings.ts';

/** A parameter that was found. */
interface Parameter {
  readonly value: string;
  set(value: string): void;
}

/** The port of a session. */
export function fakeSysctl(namespace: Namespace): Sysctl {
  const write = (name: string, value: string): void => {
    const text = value.trim();
    const parameter = needed(namespace, name, 'open');
    if (!/^-?\d+(\s+-?\d+)*$/.test(text)) throw failure('write', name, 'EINVAL');
    parameter.set(text.replace(/\s+/g, '\t'));
    watchLinks(namespace.machine);
  };
  return {
    read: async (name) => needed(namespace, name, 'open').value.trim(),
    write: async (name, value) => write(name, String(value)),
    async tryWrite(values) {
      const refused = new Map<string, SysError>();
      for (const [name, value] of Object.entries(values)) {
        try {
          write(name, value);
        } catch (error) {
          if (!(error instanceof SysError)) throw error;
          refused.set(name, error);
        }
      }
      return refused;
    },
    has: async (name) => find(namespace, nameOf(name)) !== undefined,
  };
}

const ROOT = '/proc/sys/';

function nameOf(name: string): string {
  return pathOf(name).slice(ROOT.length);
}

function needed(namespace: Namespace, name: string, syscall: string): Parameter {
  const found = find(namespace, nameOf(name));
  if (found === undefined) throw failure(syscall, name, 'ENOENT');
  return found;
}

function failure(syscall: string, name: string, errno: string): SysError {
  return new SysError({ syscall, errnum: errnoNumber(errno) ?? 0, path: pathOf(name) });
}

function find(namespace: Namespace, name: string): Parameter | undefined {
  if (name === 'net/ipv4/ip_forward') return conf(namespace, 'ipv4', 'all', 'forwarding');
  const [, family, where, key] = /^net\/(ipv[46])\/conf\/([^/]+)\/([^/]+)$/.exec(name) ?? [];
  if (family !== undefined && where !== undefined && key !== undefined) {
    const place = placeOf(namespace, where);
    return place === undefined ? undefined : conf(namespace, family as ConfFamily, place, key);
  }
  const value = namespace.settings.single(name);
  return value === undefined ? undefined : { value, set: (text) => namespace.settings.setSingle(name, text) };
}

function placeOf(namespace: Namespace, where: string): ConfPlace | undefined {
  if (where === 'all' || where === 'default') return where;
  const link = findLink(namespace, { name: where });
  // Alternative names have no settings.
  return link?.name === where ? link.index : undefined;
}

function conf(
  namespace: Namespace,
  family: ConfFamily,
  place: ConfPlace,
  key: string,
): Parameter | undefined {
  const { settings } = namespace;
  const value = settings.conf(family, place, key);
  if (value === undefined) return undefined;
  return {
    value,
    set(text) {
      for (const each of reached(namespace, key, place)) settings.setConf(family, each, key, text);
      if (family === 'ipv6' && key === 'forwarding') applyForwarding6(namespace);
      if (family === 'ipv6' && key === 'disable_ipv6') applyDisableIpv6(namespace);
    },
  };
}

/** Forwarding, and IPv6 itself, are switched for all links at once by `all`. */
function reached({ links }: Namespace, key: string, place: ConfPlace): readonly ConfPlace[] {
  if (place !== 'all' || (key !== 'forwarding' && key !== 'disable_ipv6')) return [place];
  return ['all', 'default', ...links.keys()];
}
