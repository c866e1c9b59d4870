/** IFLA_BRPORT_* — linux/if_link.h; BR_STATE_* — linux/if_bridge.h */
import { attr, attrs, bool, type Input, oneOf, u8, u16, u32, type Value } from '@heddle/wire';

/** Attributes of a bridge's port, in IFLA_PROTINFO and, for any link, in IFLA_INFO_SLAVE_DATA. */
export const brport = attrs('IFLA_BRPORT', {
  state: attr(1, oneOf(u8, { disabled: 0, listening: 1, learning: 2, forwarding: 3, blocking: 4 })),
  priority: attr(2, u16),
  cost: attr(3, u32),
  hairpin: attr(4, bool(u8)),
  guard: attr(5, bool(u8)),
  rootBlock: attr(6, bool(u8)),
  fastLeave: attr(7, bool(u8)),
  learning: attr(8, bool(u8)),
  flood: attr(9, bool(u8)),
  proxyArp: attr(10, bool(u8)),
  multicastRouter: attr(25, u8),
  multicastFlood: attr(27, bool(u8)),
  multicastToUnicast: attr(28, bool(u8)),
  vlanTunnel: attr(29, bool(u8)),
  broadcastFlood: attr(30, bool(u8)),
  groupForwardMask: attr(31, u16),
  neighSuppress: attr(32, bool(u8)),
  isolated: attr(33, bool(u8)),
  backupPort: attr(34, u32),
  locked: attr(39, bool(u8)),
});

/** A port, as a bridge sees it. A flag that an old kernel does not know is left out. */
export type BridgePort = Omit<
  Value<typeof brport>,
  'state' | 'hairpin' | 'isolated' | 'learning' | 'unknown'
> & {
  /** Of the spanning tree; without one, a port that is up forwards. */
  readonly state: NonNullable<Value<typeof brport>['state']>;
  /** Whether a frame may leave by the port that it came in by. */
  readonly hairpin: boolean;
  /** Whether the port speaks only to ports that are not isolated. */
  readonly isolated: boolean;
  readonly learning: boolean;
};

/** What of a port may be set. */
export type BridgePortChange = Omit<Input<typeof brport>, 'unknown'>;

/** A port from its attributes. */
export function bridgePort({ unknown: _, ...raw }: Value<typeof brport>): BridgePort {
  return {
    ...raw,
    state: raw.state ?? 'disabled',
    hairpin: raw.hairpin ?? false,
    isolated: raw.isolated ?? false,
    learning: raw.learning ?? true,
  };
}
