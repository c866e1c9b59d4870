/** What a bridge of the fake kernel knows of a port. */
import type { Value } from '@heddle/wire';
import type { brport } from '../../bridge/port-codec.ts';

/** The attributes that are shown, and whether the bridge lets the port take part. */
export interface BridgePortRecord {
  readonly attributes: Omit<Value<typeof brport>, 'unknown'>;
  /** The bridge and the port are up, and the port has a carrier. */
  readonly enabled: boolean;
}

/** A port that just joined, with the kernel's defaults. */
export const FRESH_PORT: BridgePortRecord = {
  attributes: {
    state: 'disabled',
    priority: 32,
    cost: 2,
    hairpin: false,
    guard: false,
    rootBlock: false,
    fastLeave: false,
    learning: true,
    flood: true,
    proxyArp: false,
    multicastRouter: 1,
    multicastFlood: true,
    multicastToUnicast: false,
    vlanTunnel: false,
    broadcastFlood: true,
    groupForwardMask: 0,
    neighSuppress: false,
    isolated: false,
    locked: false,
  },
  enabled: false,
};
