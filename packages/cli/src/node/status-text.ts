import type { NodeStatus } from '@heddle/agent';
import { formatAge } from '../output/age.ts';
import { formatFacts, formatTable } from '../output/table.ts';
import { aheadText } from './ahead-text.ts';

/** How this node is, for people. */
export function nodeStatusText(status: NodeStatus, now: number, styled: boolean): string {
  const { name, store, ready, reason, membership, blocks, waitingReleases, routing } = status;
  const facts = formatFacts(
    [
      ['node', name],
      [
        'store',
        routing?.storeAway === undefined
          ? store
          : `${store}, away for ${formatAge(now - routing.storeAway.since)}: ${routing.storeAway.reason}`,
      ],
      ['membership', membership],
      ['pods', ready ? 'can be attached' : `cannot be attached: ${reason ?? 'it is not known why'}`],
      ['reached at', routing?.underlay.map(({ link, address }) => `${address} (${link})`).join(' ') ?? ''],
      ['MTU', routing === undefined ? '' : `${routing.underlayMtu} between nodes`],
      ['blocks', blocks.map(({ cidr, held }) => `${cidr} (${held} held)`).join('\n')],
      ['ahead', status.ahead === undefined ? '' : aheadText(status.ahead)],
      [
        'waiting',
        waitingReleases === 0 ? '' : `${waitingReleases} attachments, to give their addresses back`,
      ],
      [
        'problems',
        routing?.problems.map(({ subject, reason: why }) => `${subject}: ${why}`).join('\n') || 'none',
      ],
    ],
    styled,
  );
  if (routing === undefined) return facts;
  const devices = formatTable(
    [
      { title: 'POOL', value: ({ name: pool }) => pool },
      { title: 'RANGE', value: ({ cidr }) => cidr },
      {
        title: 'WRAPPED',
        value: ({ encapsulation, overlay }) =>
          encapsulation === 'never' ? 'never' : `${encapsulation}, ${overlay}`,
      },
      { title: 'MTU OF PODS', value: ({ mtu }) => `${mtu}`, align: 'right' },
      { title: 'NAT', value: ({ natOutgoing }) => (natOutgoing ? 'of what leaves' : 'none') },
    ],
    routing.pools,
    styled,
  );
  const ways = routing.peers.flatMap((peer) =>
    peer.blocks.length === 0
      ? [{ peer, block: '', way: '' }]
      : peer.blocks.map(({ cidr, path }) => ({ peer, block: cidr, way: wayText(path) })),
  );
  const peers = formatTable(
    [
      { title: 'PEER', value: ({ peer }) => peer.name },
      { title: 'REACHED AT', value: ({ peer }) => peer.underlay.join(' ') },
      { title: 'BLOCK', value: ({ block }) => block },
      { title: 'WAY', value: ({ way }) => way },
      { title: 'CHANGED', value: ({ peer }) => formatAge(now - peer.lastChange), align: 'right' },
      { title: 'STATE', value: ({ peer }) => (peer.missing ? 'missing' : 'alive') },
    ],
    ways,
    styled,
  );
  return [facts, devices, ...(ways.length === 0 ? [] : [peers])].join('\n');
}

type Path = NonNullable<NodeStatus['routing']>['peers'][number]['blocks'][number]['path'];

function wayText(path: Path): string {
  switch (path.kind) {
    case 'direct':
      return `by ${path.gateway}`;
    case 'overlay':
      return `${path.device} to ${path.remote}`;
    case 'none':
      return `none: ${path.reason}`;
  }
}
