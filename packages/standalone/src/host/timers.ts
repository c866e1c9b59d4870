/** The global functions of timers. The event loop (`native/engine.c`) serves them. */

/** A timer. Those that are not held do not keep the process alive. */
export class Timer {
  readonly milliseconds: number;
  readonly due: number;
  readonly call: () => void;
  held = true;

  constructor(milliseconds: number, call: () => void) {
    this.milliseconds = milliseconds;
    this.due = host.now() + Math.max(1, milliseconds);
    this.call = call;
  }

  unref(): this {
    this.held = false;
    return this;
  }
}

/** Those that wait, the next one first; of two at the same time the one that was set first. */
const waiting: Timer[] = [];

export function setTimer(call: () => void, milliseconds = 0): Timer {
  const timer = new Timer(milliseconds, call);
  const place = waiting.findIndex(({ due }) => due > timer.due);
  waiting.splice(place < 0 ? waiting.length : place, 0, timer);
  host.serveTimers ??= serveTimers;
  return timer;
}

export function clearTimer(timer: Timer | undefined): void {
  const place = timer === undefined ? -1 : waiting.indexOf(timer);
  if (place >= 0) waiting.splice(place, 1);
}

const FOREVER = -1;
const END = -2;

/** See {@link Host.serveTimers}. */
function serveTimers(): number {
  const now = host.now();
  const due = waiting.filter((timer) => timer.due <= now);
  for (const timer of due) {
    const place = waiting.indexOf(timer);
    // Another one may have cleared it.
    if (place < 0) continue;
    waiting.splice(place, 1);
    timer.call();
    host.runJobs();
  }
  const [next] = waiting;
  if (!host.isHeld() && !waiting.some(({ held }) => held)) return END;
  return next === undefined ? FOREVER : Math.max(0, Math.ceil(next.due - host.now()));
}
