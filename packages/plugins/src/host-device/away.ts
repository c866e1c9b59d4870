/** Finding a device again that is not where or what it was: renamed in its container, or back without a DEL. */
import { type Result, validateIfName } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import type { KernelSession, Link } from '@heddle/netlink';
import type { Selector } from './selector.ts';

/** A device that is away from the host, or came back from a container that is gone. */
export interface Away {
  readonly link: Link;
  /** Its name on the host. */
  readonly original: string;
}

/**
 * The device in its container: under the name that ADD gave it or, when somebody renamed it there, by its alias. One whose
 * alias is its own name was on its way back when a DEL died.
 * Where the alias is gone too, the result tells by the hardware address which it is, and the configuration its
 * name, if it has one.
 */
export async function findInContainer(
  container: KernelSession,
  selector: Selector | undefined,
  ifName: string,
  prevResult: Result | undefined,
): Promise<Away | undefined> {
  const known = macOf(prevResult, ifName);
  const links = await container.links.list();
  const candidates = [
    ...links.filter(({ name, altNames }) => name === ifName || altNames.includes(ifName)),
    ...links.filter((link) => isMeant(link, selector, known)),
    ...links.filter(({ name, alias }) => name === alias),
  ];
  for (const link of candidates) {
    const original = originalName(link, selector, known);
    if (original !== undefined) return { link, original };
  }
  return undefined;
}

/**
 * A device that the kernel gave back to the host when its namespace went, under the name that it had there or
 * one like `dev7`. Only a configuration that tells the name can tell such a device from one that somebody gave
 * an alias for reasons of his own.
 */
export async function findReturned(
  host: KernelSession,
  selector: Selector | undefined,
): Promise<Away | undefined> {
  if (selector?.by !== 'name') return undefined;
  const original = selector.name;
  const link = (await host.links.list()).find(({ name, alias }) => alias === original && name !== original);
  return link === undefined ? undefined : { link, original };
}

/** The name that an alias keeps. */
export function nameInAlias({ alias }: Link): string | undefined {
  try {
    validateIfName(alias ?? '');
    return alias;
  } catch {
    return undefined;
  }
}

function macOf(result: Result | undefined, ifName: string): Mac | undefined {
  const entry = result?.interfaces?.find(({ name, sandbox }) => name === ifName && sandbox);
  return entry?.mac === undefined ? undefined : Mac.tryParse(entry.mac);
}

function isMeant(link: Link, selector: Selector | undefined, known: Mac | undefined): boolean {
  if (selector?.by === 'name' && link.alias === selector.name) return true;
  const mac = selector?.by === 'mac' ? selector.mac : known;
  return mac !== undefined && link.mac?.equals(mac) === true;
}

function originalName(
  link: Link,
  selector: Selector | undefined,
  known: Mac | undefined,
): string | undefined {
  const kept = nameInAlias(link);
  if (kept !== undefined || selector?.by !== 'name') return kept;
  return known !== undefined && link.mac?.equals(known) ? selector.name : undefined;
}
