/** What others do to the kernel: told as kinds to be compared, not as what to do. */
import { ROUTE_METRIC } from '@heddle/dataplane';
import {
  type KernelEvent,
  type KernelSession,
  type NftFamily,
  nftFamilyOf,
  type Subscription,
} from '@heddle/netlink';
import { OVERLAY_DEVICES } from '../calculate/overlays.ts';
import type { Underlay } from '../underlay/underlay.ts';
import { KINDS, type Kind, type Reconciler } from './reconciler.ts';
import type { RuleKind } from './rules.ts';
import { type Found, foundAddress, foundFdb, foundNeighbour, foundRoute } from './tables.ts';

/** What a watch works with. */
export interface WatchOptions {
  readonly session: KernelSession;
  readonly reconciler: Reconciler;
  readonly underlay: () => Underlay;
  /** Something differs from what is desired, or may. */
  readonly onDrift: (kinds: readonly Kind[]) => void;
  /** The underlay may be another one now. */
  readonly onUnderlay: () => void;
}

/** Watches until the result is disposed of. */
export function watchKernel(options: WatchOptions): Subscription {
  const { session, onDrift, onUnderlay } = options;
  return session.subscribe({
    groups: ['link', 'address4', 'address6', 'route4', 'route6', 'neighbour', 'nft'],
    unref: true,
    onEvent: (event) => tell(options, event),
    onResync: () => {
      onDrift(KINDS);
      onUnderlay();
    },
  });
}

function tell(options: WatchOptions, event: KernelEvent): void {
  const { session, reconciler, onDrift, onUnderlay } = options;
  const { action } = event;
  const check = (kind: Kind, found: Found | undefined) => {
    if (found === undefined) return;
    const wanted = reconciler.desired.get(found.key);
    if (
      wanted === undefined
        ? action === 'new' && found.isOwned
        : action === 'delete' || wanted.text !== found.text
    ) {
      onDrift([kind]);
    }
  };
  switch (event.kind) {
    case 'link': {
      const { name, index, up } = event.link;
      // With a device that goes, or only goes down, go routes and neighbours, and the kernel does not tell.
      if (OVERLAY_DEVICES.some((device) => device.name === name))
        onDrift(up && action === 'new' ? ['link'] : KINDS);
      if (isUnderlay(options, index)) {
        onUnderlay();
        onDrift(['route']);
      }
      return;
    }
    case 'address': {
      const { link } = event.address;
      check('address', foundAddress(session.addresses, reconciler.devices, event.address));
      // With the last address of IPv4 go the routes by a link, and the kernel does not tell.
      if (action === 'delete' && (reconciler.devices.names.has(link) || isUnderlay(options, link)))
        onDrift(['route']);
      if (isUnderlay(options, link)) onUnderlay();
      return;
    }
    case 'neighbour':
      check('neighbour', foundNeighbour(session.neighbours, reconciler.devices, event.neighbour));
      return;
    case 'fdb':
      check('fdb', foundFdb(session.bridge, reconciler.devices, event.entry));
      return;
    case 'route': {
      const { route } = event;
      if (route.metric === ROUTE_METRIC)
        check('route', foundRoute(session.routes, reconciler.devices, route));
      if (route.dst.bits === 0) onUnderlay();
      return;
    }
    case 'netfilter': {
      const kinds = rulesIn(nftFamilyOf(event));
      onDrift(kinds.filter((kind) => reconciler.desired.has(kind)));
      return;
    }
    default:
  }
}

/** Which rules may be otherwise when tables of a family have changed. */
function rulesIn(family: NftFamily | undefined): readonly RuleKind[] {
  if (family === 'inet') return ['nat', 'sources'];
  return family === 'ip' || family === 'ip6' ? ['forward'] : [];
}

/** Whether it is about a link of the underlay; anything is, while there is none. */
function isUnderlay({ underlay }: WatchOptions, link: number): boolean {
  const { addresses } = underlay();
  return addresses.length === 0 || addresses.some((address) => address.link === link);
}
