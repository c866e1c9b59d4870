/**
 * firewalld, which puts addresses into zones: asked over the system's message bus.
 * Source: firewalld.dbus(5), interface org.fedoraproject.FirewallD1.zone.
 */
import { existsSync } from 'node:fs';
import { type Addr, Prefix } from '@heddle/netaddr';
import { BUS, DBusConnection } from '../dbus/connection.ts';
import { DBusError } from '../dbus/dbus-error.ts';
import { string } from '../dbus/types.ts';

/** A connection to firewalld. */
export class Firewalld implements Disposable {
  readonly #bus: DBusConnection;

  private constructor(bus: DBusConnection) {
    this.#bus = bus;
  }

  /**
   * Connects to firewalld; `undefined` when it does not run.
   *
   * @param bus the path of the socket of the system's message bus
   */
  static async find(bus: string): Promise<Firewalld | undefined> {
    const connection = await connect(bus);
    if (connection === undefined) return undefined;
    const [runs] = await connection
      .call({ ...BUS, member: 'NameHasOwner', body: [{ type: string, value: SERVICE }] })
      .catch(() => [false]);
    if (runs === true) return new Firewalld(connection);
    connection[Symbol.dispose]();
    return undefined;
  }

  /** Puts an address into a zone. That it is there already is fine. */
  async add(zone: string, addr: Addr): Promise<void> {
    try {
      await this.#call('addSource', zone, addr);
    } catch (error) {
      if (!isAnswer(error, 'ZONE_ALREADY_SET')) throw error;
    }
  }

  /** Takes an address out of a zone. That it is not there is fine, or that there is no such zone. */
  async remove(zone: string, addr: Addr): Promise<void> {
    try {
      await this.#call('removeSource', zone, addr);
    } catch (error) {
      if (!isAnswer(error, 'UNKNOWN_SOURCE') && !isAnswer(error, 'INVALID_ZONE')) throw error;
    }
  }

  /** Whether an address is in a zone. */
  async has(zone: string, addr: Addr): Promise<boolean> {
    const [found] = await this.#call('querySource', zone, addr);
    return found === true;
  }

  [Symbol.dispose](): void {
    this.#bus[Symbol.dispose]();
  }

  #call(member: string, zone: string, addr: Addr): Promise<readonly unknown[]> {
    const values = [zone, String(Prefix.host(addr))];
    return this.#bus.call({
      ...{
        destination: SERVICE,
        path: '/org/fedoraproject/FirewallD1',
        interface: `${SERVICE}.zone`,
        member,
      },
      body: values.map((value) => ({ type: string, value })),
    });
  }
}

const SERVICE = 'org.fedoraproject.FirewallD1';

/** A node without a message bus has no firewalld either. */
async function connect(bus: string): Promise<DBusConnection | undefined> {
  if (!existsSync(bus)) return undefined;
  try {
    return await DBusConnection.open(bus);
  } catch (error) {
    if (error instanceof DBusError) return undefined;
    throw error;
  }
}

/** firewalld begins what it says with a word for the kind of error. */
function isAnswer(error: unknown, word: string): boolean {
  return error instanceof DBusError && error.message.includes(word);
}
