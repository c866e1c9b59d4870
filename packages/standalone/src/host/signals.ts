/** Signals that are asked for, on the way of all other events. */
import { Fd, watch } from '@heddle/sys';

/** Calls back at the first such signal. */
export function onSignal(signal: number, listener: () => void): void {
  const fd = new Fd(host.signalFd(signal));
  watch(
    fd,
    () => {
      fd.close();
      listener();
    },
    { unref: true },
  );
}
