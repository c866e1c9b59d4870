/** Addresses between nodes that more than one node says it has: whose packets are whose is chance then. */
import type { NodeRecord } from '../cluster/records.ts';

/** See the file's comment. What one node's change costs does not depend on how many nodes there are. */
export class SharedAddresses {
  /** By address; and of these, those that more than one has. */
  readonly #holders = new Map<string, Set<string>>();
  readonly #shared = new Set<string>();

  /** What a node's record says now, in place of what it said before. */
  change(name: string, before: NodeRecord | undefined, now: NodeRecord | undefined): void {
    for (const address of addressesOf(before)) {
      const holders = this.#holders.get(address);
      holders?.delete(name);
      if (holders?.size === 0) this.#holders.delete(address);
      this.#note(address);
    }
    for (const address of addressesOf(now)) {
      const holders = this.#holders.get(address);
      if (holders === undefined) this.#holders.set(address, new Set([name]));
      else holders.add(name);
      this.#note(address);
    }
  }

  /** Who has them with others, but for one node: name → in words. */
  reasons(own: string): ReadonlyMap<string, string> {
    const reasons = new Map<string, string>();
    for (const address of [...this.#shared].sort()) {
      const holders = [...(this.#holders.get(address) ?? [])].sort();
      for (const name of holders) {
        if (name === own) continue;
        const others = holders.filter((other) => other !== name);
        const who = others.map((other) => (other === own ? 'this node' : `node ${other}`)).join(' and ');
        reasons.set(name, `it has the address ${address} between nodes, and so has ${who}`);
      }
    }
    return reasons;
  }

  #note(address: string): void {
    if ((this.#holders.get(address)?.size ?? 0) > 1) this.#shared.add(address);
    else this.#shared.delete(address);
  }
}

/** With what else is wrong with nodes: `node n7` → why. */
export function allFaults(
  others: ReadonlyMap<string, string>,
  addresses: SharedAddresses,
  own: string,
): ReadonlyMap<string, string> {
  const faults = new Map(others);
  for (const [name, reason] of addresses.reasons(own)) {
    const subject = `node ${name}`;
    const other = faults.get(subject);
    faults.set(subject, other === undefined ? reason : `${reason}; ${other}`);
  }
  return faults;
}

function addressesOf(record: NodeRecord | undefined): readonly string[] {
  return record?.underlay.map(({ addr }) => `${addr}`) ?? [];
}
