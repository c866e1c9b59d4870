import type { Host } from '../host/host.ts';
import type { LabPlan, NodePlan } from '../plan.ts';
import type { Underlay } from '../underlay/underlay.ts';

/** What wiring gets to work with. */
export interface Site {
  readonly plan: LabPlan;
  readonly underlay: Underlay;
  /** The `heddle` command and what goes before its arguments. */
  readonly program: readonly string[];
  /** Where the nodes find their store, as a URL. */
  readonly store: string;
}

/** How pods get their network. */
export interface Wiring {
  /** The network that pods are attached to. */
  readonly network: string;
  /** Makes a node ready for pods. */
  setUp(node: NodePlan, host: Host): Promise<void>;
  /** Once all nodes are ready. */
  finish(hosts: ReadonlyMap<string, Host>): Promise<void>;
}
