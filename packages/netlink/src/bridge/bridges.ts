import { decode, encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf, withIndex } from '../core/change.ts';
import { AF } from '../core/family.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { RTM } from '../core/rtm.ts';
import { RTEXT_FILTER } from '../link/fields.ts';
import type { Rtnetlink } from '../link/rtnetlink.ts';
import { neighbourMessage } from '../neighbour/codec.ts';
import { bridgeMessage } from './codec.ts';
import {
  addFdb,
  appendFdb,
  deleteFdb,
  type FdbEntry,
  type FdbKey,
  type FdbSpec,
  fdbEntryOf,
  replaceFdb,
} from './fdb.ts';
import type { BridgePort, BridgePortChange } from './port-codec.ts';
import { addVlan, deleteVlan, type PortVlan, type PortVlanKey, type PortVlanSpec, vlansOf } from './vlan.ts';

/** Which forwarding entries to list; all conditions must hold. */
export interface FdbFilter {
  /** The port or VXLAN. */
  readonly link?: LinkRef | undefined;
  /** The bridge. */
  readonly master?: LinkRef | undefined;
}

/** Ports, VLANs and forwarding tables of a namespace's bridges: `bridge`. */
export class Bridges {
  /** Changes to be made later, with `batch`. */
  readonly plan = { setPort, addVlan, deleteVlan, addFdb, appendFdb, replaceFdb, deleteFdb } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /**
   * Changes how a bridge treats a port.
   *
   * @example await session.bridge.setPort('veth0', { hairpin: true });
   * @throws {NetlinkError} EOPNOTSUPP or EINVAL when the link is in no bridge
   */
  setPort(ref: LinkRef, change: BridgePortChange): Promise<void> {
    return this.#kernel.apply(setPort(ref, change));
  }

  /**
   * The bridge port that a link is.
   *
   * @throws {NetlinkError} ENODEV when there is no such link, ENOENT when it is in no bridge
   */
  async port(ref: LinkRef): Promise<BridgePort> {
    const { port } = await this.#kernel.link(ref);
    if (port === undefined)
      throw new NetlinkError(`get bridge port ${labelOf(ref)}, which is in no bridge`, ENOENT);
    return port;
  }

  /** The VLANs that a port, or a bridge itself, is in. */
  async vlans(ref: LinkRef): Promise<PortVlan[]> {
    const index = await this.#kernel.indexOf(ref);
    const body = encode(bridgeMessage, {
      family: AF.BRIDGE,
      attributes: { extMask: RTEXT_FILTER.BRVLAN },
    });
    const operation = `list VLANs of ${labelOf(ref)}`;
    const replies = await this.#kernel.client.dump({ type: RTM.GETLINK, body, operation });
    return replies
      .map(({ body }) => decode(bridgeMessage, body))
      .filter((message) => message.index === index)
      .flatMap(vlansOf);
  }

  /**
   * Puts a port into a VLAN or a range of them.
   *
   * @example await session.bridge.addVlan('veth0', { id: 100, pvid: true, untagged: true });
   * @throws {NetlinkError} EOPNOTSUPP when the kernel has no VLAN filtering
   */
  addVlan(ref: LinkRef, spec: PortVlanSpec): Promise<void> {
    return this.#kernel.apply(addVlan(ref, spec));
  }

  /** Takes a port out of a VLAN or a range of them. */
  deleteVlan(ref: LinkRef, key: PortVlanKey): Promise<void> {
    return this.#kernel.apply(deleteVlan(ref, key));
  }

  /** Forwarding entries: of all links, of one, or of all ports of a bridge. */
  async fdb(filter: LinkRef | FdbFilter = {}): Promise<FdbEntry[]> {
    const { link, master } = typeof filter === 'object' ? filter : { link: filter };
    const index = async (ref: LinkRef | undefined) =>
      ref === undefined ? undefined : this.#kernel.indexOf(ref);
    const body = encode(neighbourMessage, {
      family: AF.BRIDGE,
      attributes: { ifindex: await index(link), master: await index(master) },
    });
    const replies = await this.#kernel.client.dump({
      type: RTM.GETNEIGH,
      body,
      operation: 'list fdb entries',
    });
    return replies
      .map(({ body }) => fdbEntryOf(decode(neighbourMessage, body)))
      .filter((entry) => entry !== undefined);
  }

  /**
   * Makes a forwarding entry.
   *
   * @example
   * await session.bridge.addFdb({ link: 'vxlan42', mac, dst: Addr.parse('192.0.2.7') });
   * @throws {NetlinkError} EEXIST when there is one
   */
  addFdb(spec: FdbSpec): Promise<void> {
    return this.#kernel.apply(addFdb(spec));
  }

  /** Gives an entry one more remote end, or makes it. */
  appendFdb(spec: FdbSpec): Promise<void> {
    return this.#kernel.apply(appendFdb(spec));
  }

  /** Makes a forwarding entry, or changes the one that is there. */
  replaceFdb(spec: FdbSpec): Promise<void> {
    return this.#kernel.apply(replaceFdb(spec));
  }

  /**
   * Deletes a forwarding entry.
   *
   * @throws {NetlinkError} ENOENT when there is none
   */
  deleteFdb(key: FdbKey): Promise<void> {
    return this.#kernel.apply(deleteFdb(key));
  }
}

const ENOENT = 2;

function setPort(ref: LinkRef, change: BridgePortChange): Change {
  return (indexOf) =>
    withIndex(indexOf, ref, (index) => ({
      type: RTM.SETLINK,
      operation: `set bridge port ${labelOf(ref)}`,
      body: encode(bridgeMessage, { family: AF.BRIDGE, index, attributes: { port: change } }),
    }));
}
