/** Telling systemd how the agent is — sd_notify(3): datagrams to the socket that the environment names. */
import { AF, type Fd, MSG, SOCK, send, socket } from '@heddle/sys';
import { unixAddress } from '../unix-address.ts';

/** What a service manager can be told. */
export type ServiceState = 'READY=1' | 'STOPPING=1' | 'WATCHDOG=1' | `STATUS=${string}`;

/** Environment variables as Node.js has them. */
type Environment = Readonly<Record<string, string | undefined>>;

/** See the file's comment. */
export class ServiceManager implements Disposable {
  readonly #address: Uint8Array | undefined;
  readonly #socket: Fd | undefined;

  /** Without NOTIFY_SOCKET nobody is there to be told, and telling does nothing. */
  constructor(env: Environment) {
    const path = env['NOTIFY_SOCKET'] ?? '';
    if (!path.startsWith('/') && !path.startsWith('@')) return;
    this.#address = unixAddress(path);
    this.#socket = socket({ family: AF.UNIX, type: SOCK.DGRAM });
  }

  /** Tells all of this at once. A manager that does not listen is not waited for: it has seen to it itself. */
  tell(...states: readonly ServiceState[]): void {
    if (this.#socket === undefined || this.#address === undefined) return;
    try {
      send(this.#socket, Buffer.from(states.join('\n')), { to: this.#address, flags: MSG.DONTWAIT });
    } catch {
      // A service does its work also when its manager has gone.
    }
  }

  [Symbol.dispose](): void {
    this.#socket?.close();
  }
}

/**
 * How often systemd wants to hear that the process is alive — sd_watchdog_enabled(3).
 *
 * @returns milliseconds; undefined when it does not
 */
export function watchdogInterval(env: Environment, pid: number): number | undefined {
  const microseconds = Number(env['WATCHDOG_USEC'] ?? 0);
  const isMeant = (env['WATCHDOG_PID'] ?? `${pid}`) === `${pid}`;
  return isMeant && microseconds > 0 ? microseconds / 1000 : undefined;
}
