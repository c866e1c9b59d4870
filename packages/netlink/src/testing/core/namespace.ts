import type { Flow } from '../../conntrack/flow.ts';
import { RT_TABLE } from '../../route/codec.ts';
import type { ClassMessage, FilterMessage, QdiscMessage } from '../../tc/codec.ts';
import type { AddressRecord } from '../address/record.ts';
import type { FdbRecord } from '../bridge/fdb.ts';
import type { LinkRecord } from '../link/record.ts';
import type { NeighbourRecord } from '../neighbour/record.ts';
import { EMPTY_RULESET, type Ruleset } from '../nft/records.ts';
import type { RouteRecord } from '../route/record.ts';
import { defaultRules, type RuleRecord } from '../rule/record.ts';
import { Settings } from '../sysctl/settings.ts';
import type { Machine } from './machine.ts';
import { Notifier } from './notifier.ts';
import type { SentFrame } from './packets.ts';

/** The tables of one network namespace. What happens to them is in the modules of each table. */
export class Namespace {
  readonly name: string;
  /** What its handles have for a descriptor. */
  readonly number: number;
  readonly machine: Machine;
  /** By index, in the order of the indexes. */
  readonly links = new Map<number, LinkRecord>();
  /** In the order in which they are listed, link by link. */
  addresses: readonly AddressRecord[] = [];
  routes: readonly RouteRecord[] = [];
  /** In the order in which they are tried. */
  rules: readonly RuleRecord[] = [...defaultRules(4), ...defaultRules(6)];
  fdb: readonly FdbRecord[] = [];
  qdiscs: readonly QdiscMessage[] = [];
  classes: readonly ClassMessage[] = [];
  filters: readonly FilterMessage[] = [];
  ruleset: Ruleset = EMPTY_RULESET;
  /** Tracked connections: those that a test put here. */
  flows: readonly Flow[] = [];
  neighbours: readonly NeighbourRecord[] = [];
  /** Routing tables that have come into being, as `family table`: those of IPv4 with their first route. */
  readonly tables = new Set([`6 ${RT_TABLE.MAIN}`, `6 ${RT_TABLE.LOCAL}`]);
  /** What was sent out of its links. */
  frames: readonly SentFrame[] = [];
  readonly settings = new Settings();
  readonly notifier: Notifier;
  /** The numbers that other namespaces have in this one. */
  readonly #ids = new Map<Namespace, number>();
  #lastIndex = 0;

  constructor(name: string, number: number, machine: Machine) {
    this.name = name;
    this.number = number;
    this.machine = machine;
    this.notifier = new Notifier(machine);
  }

  /** A free index, higher than any that was given out. */
  nextIndex(): number {
    do this.#lastIndex++;
    while (this.links.has(this.#lastIndex));
    return this.#lastIndex;
  }

  /** The number of another namespace, which it has from the moment when it must be told. */
  idOf(other: Namespace): number {
    const id = this.#ids.get(other) ?? this.#ids.size;
    this.#ids.set(other, id);
    return id;
  }
}
