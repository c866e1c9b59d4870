/**
 * Keep-alives that stop when the agent could not serve a call: each comes from the event loop, after the kernel has
 * answered a request that took the way of every other.
 */

/** How to keep alive. */
export interface WatchdogOptions {
  /** Milliseconds in which the manager has to hear something. */
  readonly interval: number;
  /** Ends when the kernel has answered. */
  readonly probe: () => Promise<void>;
  /** Tells the manager. */
  readonly keepAlive: () => void;
  /** Told why no keep-alive was sent. */
  readonly onFailure: (error: unknown) => void;
}

/** Keeps alive until it is disposed of. A probe that does not end is the last one. */
export function startWatchdog({ interval, probe, keepAlive, onFailure }: WatchdogOptions): Disposable {
  let hasEnded = false;
  let timer: NodeJS.Timeout | undefined;
  const round = async (): Promise<void> => {
    try {
      await probe();
      if (!hasEnded) keepAlive();
    } catch (error) {
      onFailure(error);
    }
    if (!hasEnded) timer = setTimeout(round, interval / ROUNDS);
  };
  void round();
  return {
    [Symbol.dispose]() {
      hasEnded = true;
      clearTimeout(timer);
    },
  };
}

/** So many keep-alives in an interval; systemd advises two, and one may be late. */
const ROUNDS = 3;
