/** What is special about macvlan links. */
import type { Link } from '@heddle/netlink';
import type { Findings } from '../interface/findings.ts';
import type { StackedKind } from '../stacked/index.ts';
import { type MacvlanConfig, modeOf, requestedMac } from './config.ts';

/** Macvlan links. */
export const macvlanKind: StackedKind<MacvlanConfig> = {
  kind: 'macvlan',
  module: 'macvlan',
  options: (config) => ({
    kind: 'macvlan',
    mode: modeOf(config),
    ...(config.bcqueuelen > 0 && { broadcastQueueLength: config.bcqueuelen }),
  }),
  findings,
  requestedMac: ({ config, args }) => requestedMac(config, args['MAC']),
};

function findings({ name, data }: Link, config: MacvlanConfig): Findings {
  if (data?.kind !== 'macvlan') return [];
  const { mode, broadcastQueueLength = 0 } = data;
  const wanted = modeOf(config);
  const length = config.bcqueuelen;
  return [
    ...(mode === wanted ? [] : [`link ${name} should be in mode ${wanted}, but is in ${mode}`]),
    // Kernels before 5.11 have no such option, and tell none.
    ...(length === 0 || broadcastQueueLength === length || broadcastQueueLength === 0
      ? []
      : [`link ${name} should queue ${length} broadcast frames, but queues ${broadcastQueueLength}`]),
  ];
}
