/** How the kinds of links that sit on another one differ; all else about them is the same. */
import type { Result } from '@heddle/cni';
import type { AddCall, AttachmentCall } from '@heddle/cni/plugin';
import type { Mac } from '@heddle/netaddr';
import type { Link, LinkDataSpec } from '@heddle/netlink';
import type { Findings } from '../interface/findings.ts';
import type { StackedConfig } from './config.ts';

/** One kind. */
export interface StackedKind<C extends StackedConfig> {
  /** The kernel's name for it. */
  readonly kind: 'macvlan' | 'ipvlan' | 'vlan';
  /** The kernel module that makes such links, for people whose kernel does not. */
  readonly module: string;
  /** What the kernel is told about a new link, besides its name, master and MTU. */
  options(config: C): LinkDataSpec;
  /** What of a link's own options is not as the configuration says. */
  findings(link: Link, config: C): Findings;
  /** The hardware address that somebody asked for. */
  requestedMac?(call: AttachmentCall<C>): Mac | undefined;
  /**
   * The master of a configuration that names none, before the default route is asked. Only an ADD can tell: the
   * chain so far decides.
   */
  impliedMaster?(call: AddCall<C>): string | undefined;
  /** Where addresses come from when no address management is configured. Nowhere, for the kinds without it. */
  addressesWithoutIpam?(call: AddCall<C>): Result;
}
