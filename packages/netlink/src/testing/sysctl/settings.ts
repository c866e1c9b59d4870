/** The kernel parameters of a namespace as values: those of links go with their links, whatever these are called. */
import { CONF, SINGLE } from './defaults.ts';

/** The two families that have settings of links. */
export type ConfFamily = keyof typeof CONF;
/** A link by its index, or one of the two places that belong to none. */
export type ConfPlace = number | 'all' | 'default';

/** See the file's comment. */
export class Settings {
  /** What differs from the defaults. */
  readonly #values = new Map<string, string>();

  /** One that is not a link's; `undefined` when there is none of that name. */
  single(name: string): string | undefined {
    return this.#values.get(name) ?? SINGLE[name];
  }

  setSingle(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** A setting of a link, or of all; `undefined` when there is none of that name. */
  conf(family: ConfFamily, place: ConfPlace, name: string): string | undefined {
    const known = CONF[family][name];
    if (known === undefined) return undefined;
    return this.#values.get(keyOf(family, place, name)) ?? special(family, place, name) ?? known;
  }

  setConf(family: ConfFamily, place: ConfPlace, name: string, value: string): void {
    this.#values.set(keyOf(family, place, name), value);
  }

  /** Whether a setting of a link is on. */
  isOn(family: ConfFamily, place: ConfPlace, name: string): boolean {
    return Number(this.conf(family, place, name)) > 0;
  }

  /** Gives a new link what `default` says by now. */
  addLink(index: number): void {
    for (const family of ['ipv4', 'ipv6'] as const) {
      for (const name of Object.keys(CONF[family])) {
        const value = this.#values.get(keyOf(family, 'default', name));
        if (value !== undefined) this.setConf(family, index, name, value);
      }
    }
  }

  /** Forgets a link. */
  removeLink(index: number): void {
    for (const key of this.#values.keys()) {
      if (/^ipv\d (\d+) /.exec(key)?.[1] === String(index)) this.#values.delete(key);
    }
  }

  /** What differs from the defaults, for links too: `ipv4 7 forwarding` to its value. */
  changed(): ReadonlyMap<string, string> {
    return this.#values;
  }
}

function keyOf(family: ConfFamily, place: ConfPlace, name: string): string {
  return `${family} ${place} ${name}`;
}

/** Where a place has another default than the rest. */
function special(family: ConfFamily, place: ConfPlace, name: string): string | undefined {
  if (family !== 'ipv6' || name !== 'accept_dad') return undefined;
  if (place === 'all') return '0';
  return place === LOOPBACK ? '-1' : undefined;
}

const LOOPBACK = 1;
