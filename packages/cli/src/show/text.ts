/** A view for people: what `heddle show` prints. */
import { styleText } from 'node:util';
import { goJson } from '@heddle/cni';
import type { Link, Route } from '@heddle/netlink';
import { formatAge } from '../output/age.ts';
import { printable } from '../output/printable.ts';
import { formatFacts } from '../output/table.ts';
import { elementText } from './ruleset.ts';
import { type AttachmentView, cachedPlugins, type Side } from './view.ts';

/** The text, in sections; those with nothing to say are left out. */
export function viewText(view: AttachmentView, now: number, styled: boolean): string {
  const { attachment, container, host, nftables, reservations, cache } = view;
  const title = (text: string) => (styled ? styleText('bold', text, { validateStream: false }) : text);
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [
      'in the container',
      container === undefined ? ['its namespace is gone, or not known'] : sideLines(container),
    ],
    ['on the host', sideLines(host)],
    [
      'in nftables',
      [
        ...nftables.elements.map((each) => `${each.family} ${each.table} ${each.set}   ${elementText(each)}`),
        ...nftables.rules.map(
          ({ family, table, chain, handle }) => `${family} ${table} ${chain}   rule with handle ${handle}`,
        ),
      ],
    ],
    [
      'reserved by host-local',
      reservations.map(
        ({ addr, createdAt, path }) => `${addr}   for ${formatAge(now - createdAt)}, in ${path}`,
      ),
    ],
  ];
  const { network, containerID, ifName, state, netns, ips, addedAt, pod, knownBy } = attachment;
  const facts = formatFacts(
    [
      ['network', network],
      ['container', containerID],
      ['interface', ifName ?? ''],
      ['state', `${state} (known by: ${knownBy.join(', ')})`],
      ['namespace', netns ?? ''],
      ['addresses', ips.join('\n')],
      ['attached for', addedAt === null ? '' : formatAge(now - addedAt)],
      ...(pod === null
        ? []
        : [['pod', `${pod.namespace ?? '?'}/${pod.name ?? '?'} ${pod.uid ?? ''}`.trim()] as const]),
      ...(cache === undefined ? [] : [['plugins', cachedPlugins(cache).join(', ')] as const]),
      ...(cache?.args === undefined
        ? []
        : [['arguments', cache.args.map(([key, value]) => `${key}=${value}`).join('\n')] as const]),
      ...(cache?.capabilityArgs === undefined
        ? []
        : [['capabilities', goJson(cache.capabilityArgs)] as const]),
    ],
    styled,
  );
  const shown = sections.filter(([, lines]) => lines.length > 0);
  return [
    facts,
    ...shown.map(
      ([name, lines]) => `\n${title(name)}\n${lines.map((line) => `  ${printable(line)}\n`).join('')}`,
    ),
  ].join('');
}

function sideLines({ links, addresses, routes, names }: Side): readonly string[] {
  return [
    ...links.map((link) => `link     ${linkText(link, names)}`),
    ...addresses.map(
      ({ prefix, link, tentative, dadFailed }) =>
        `address  ${prefix} on ${names.get(link) ?? link}${tentative ? ', tentative' : ''}${dadFailed ? ', a duplicate' : ''}`,
    ),
    ...routes.map((route) => `route    ${routeText(route, names)}`),
  ];
}

function linkText({ name, kind, mac, mtu, up, master }: Link, names: Side['names']): string {
  const port = master === undefined ? '' : `, a port of ${names.get(master) ?? master}`;
  return `${name} (${kind ?? 'link'}) ${up ? 'up' : 'down'}, mtu ${mtu}${mac === undefined ? '' : `, ${mac}`}${port}`;
}

function routeText(
  { dst, gateway, via, link, source, metric, table, type }: Route,
  names: Side['names'],
): string {
  const next = gateway ?? via;
  return [
    type === 'unicast' ? '' : `${type} `,
    dst.bits === 0 ? `default (${dst})` : `${dst}`,
    next === undefined ? '' : ` via ${next}`,
    link === undefined ? '' : ` dev ${names.get(link) ?? link}`,
    source === undefined ? '' : ` from ${source}`,
    metric === undefined ? '' : ` metric ${metric}`,
    table === MAIN_TABLE ? '' : ` table ${table}`,
  ].join('');
}

/** linux/rtnetlink.h, RT_TABLE_MAIN */
const MAIN_TABLE = 254;
