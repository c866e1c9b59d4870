/** A plan, for people and for programs. */
import { formatOwner } from '@heddle/ipam';
import { formatFacts } from '../output/table.ts';
import type { MigrationPlaces } from './apply.ts';
import type { MigrationPlan } from './plan.ts';

/** For people: what is read, made, held, and stays. */
export function planText(plan: MigrationPlan, places: MigrationPlaces, styled: boolean): string {
  const { former, pods, pools, present, blocks, peers, setsMode } = plan;
  const { source, network, config, read, reservations, bridge, overlays } = former;
  const wrapped = ({ encapsulation, overlay }: (typeof pools)[number]) =>
    encapsulation === 'never'
      ? 'packets between nodes are not wrapped'
      : `packets are wrapped ${encapsulation} in ${overlay}`;
  const stays = [
    ...(bridge === undefined ? [] : [`bridge ${bridge}`]),
    ...overlays.map((name) => `device ${name}`),
    ...(peers.length === 0 ? [] : [`routes to ${peers.join(', ')}`]),
  ];
  return formatFacts(
    [
      ['network', `${network} of ${source}`],
      ['reads', [config, ...read, reservations].join('\n')],
      ['subnets', former.subnets.join('\n')],
      [
        'pods',
        pods.length === 0
          ? 'none'
          : pods.map(({ addr, owner }) => `${addr} stays that of ${formatOwner(owner)}`).join('\n'),
      ],
      [
        'makes',
        pools
          .map((pool) => `pool ${pool.name}, ${pool.cidr} in blocks of /${pool.blockSize}; ${wrapped(pool)}`)
          .join('\n'),
      ],
      ['uses', present.map(({ name, cidr }) => `pool ${name}, ${cidr}`).join('\n')],
      ['sets', setsMode ? 'the mode of the cluster: nodes keep to their subnets' : ''],
      ['claims', blocks.join('\n')],
      ['writes', `${places.config}\n${places.network}`],
      ['moves', config === places.aside ? '' : `${config} to ${places.aside}`],
      ['stays', stays.join('\n')],
    ].filter((fact): fact is [string, string] => fact[1] !== ''),
    styled,
  );
}

/** For programs. */
export function planJson(plan: MigrationPlan, places: MigrationPlaces): object {
  const { former, pods, pools, blocks, peers, setsMode } = plan;
  const { source, network, config, read, reservations, bridge, overlays, subnets } = former;
  return {
    ...{ source, network, config, movedTo: places.aside, read: [...read, reservations] },
    ...{ subnets, bridge: bridge ?? null, overlays, setsMode },
    pods: pods.map(({ addr, owner }) => ({
      ...{ address: addr, containerID: owner?.containerID ?? '', ifName: owner?.ifName ?? null },
    })),
    pools: pools.map(({ name, cidr, blockSize, encapsulation, overlay, natOutgoing }) => ({
      ...{ name, cidr, blockSize, encapsulation, overlay, natOutgoing },
    })),
    ...{ blocks, peers },
  };
}
