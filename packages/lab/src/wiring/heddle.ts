/** Pods wired as in a cluster: each node is joined with `heddle up`, and its agent does the rest. */
import type { Site, Wiring } from './wiring.ts';

/** See the file's comment. */
export function wiringByHeddle({ plan, program, store }: Site): Wiring {
  const { encapsulation, overlay, natOutgoing } = plan.network;
  return {
    network: 'heddle',
    async setUp(node, host) {
      await host.must([
        ...program,
        'up',
        ...['--name', node.name, '--store', store],
        ...['--encapsulation', encapsulation, '--overlay', overlay],
        ...(natOutgoing ? [] : ['--no-nat-outgoing']),
        ...plan.podFamilies.flatMap((family) => ['--pool', POOLS[family]]),
        ...Object.entries(node.labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
      ]);
    },
    finish: async () => undefined,
  };
}

/** Those that `heddle up` makes by itself; a lab may have one of them only. */
const POOLS = { 4: '10.244.0.0/16', 6: 'fd00:10:244::/48' } as const;
