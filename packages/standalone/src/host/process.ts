/** `process`, as much of it as the program uses. It is made before the process is there: all is looked up late. */

export const process = {
  arch: host.arch,
  get argv0(): string {
    return host.arguments[0] ?? '';
  },
  /** As in a program of one file: the second word stands for the script. */
  get argv(): readonly string[] {
    const [name = '', ...words] = host.arguments;
    return [name, name, ...words];
  },
  get env(): Readonly<Record<string, string>> {
    return host.environment;
  },
  get execPath(): string {
    return host.readlink('/proc/self/exe');
  },
  get pid(): number {
    return host.pid();
  },
  getuid: () => host.uid(),
  kill: (pid: number, signal: keyof typeof SIGNALS) => host.kill(pid, SIGNALS[signal]),
  exit: (code: number): never => host.exit(code),
  /** Signals, and nothing else. */
  once(signal: keyof typeof SIGNALS, listener: () => void): void {
    void import('./signals.ts').then(({ onSignal }) => onSignal(SIGNALS[signal], listener));
  },
};

const SIGNALS = { SIGINT: 2, SIGKILL: 9, SIGTERM: 15 } as const;
