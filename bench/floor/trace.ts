/** What an agent said to the kernel, read from strace's notes. */

/** A datagram on a netlink socket. */
export interface Sent {
  /** Whether the socket is the node's or the pod's. */
  readonly where: 'host' | 'pod';
  readonly bytes: Buffer;
}

/** What was sent during one call. */
export interface Exchange {
  readonly sent: readonly Sent[];
  /** The numbers of descriptors by which the pod's namespace was entered. */
  readonly netns: readonly number[];
}

/** How strace has to be called for `Trace` to understand it. */
export const STRACE_ARGS = [
  ...['--follow-forks', '--string-limit=1'],
  ...['--trace=socket,close,setns,sendto,sendmsg', '--raw=sendto,sendmsg', '--write=all'],
];

/** Reads strace's output piece by piece, with what was learnt before of sockets and threads. */
export class Trace {
  /** Netlink sockets by descriptor. */
  readonly #sockets = new Map<string, 'host' | 'pod'>();
  /** Threads that are in a pod's namespace. */
  readonly #inside = new Set<string>();
  readonly #unfinished = new Map<string, string>();

  /** What was sent in a further piece of the output, which ends at the end of a line. */
  read(text: string): Exchange {
    const sent: { where: 'host' | 'pod'; bytes: Buffer[] }[] = [];
    const netns = new Set<number>();
    let current: Buffer[] | undefined;
    for (const line of text.split('\n')) {
      const dumped = /^ \| [0-9a-f]{5} {2}((?:[0-9a-f]{2} {1,2}){1,16})/.exec(line);
      if (dumped !== null) {
        current?.push(Buffer.from((dumped[1] ?? '').replaceAll(' ', ''), 'hex'));
        continue;
      }
      current = undefined;
      const call = this.#whole(line);
      if (call === undefined) continue;
      const [thread, name, args, result] = call;
      const where = this.#sockets.get(Number(args.split(',')[0]).toString());
      if (name === 'socket' && args.startsWith('AF_NETLINK')) {
        const isRoute = args.includes('NETLINK_ROUTE');
        if (isRoute) this.#sockets.set(result, this.#inside.has(thread) ? 'pod' : 'host');
      } else if (name === 'close') {
        this.#sockets.delete(args);
      } else if (name === 'setns') {
        if (!this.#inside.delete(thread)) {
          this.#inside.add(thread);
          netns.add(Number.parseInt(args, 10));
        }
      } else if (name.startsWith('send') && where !== undefined) {
        current = [];
        sent.push({ where, bytes: current });
      }
    }
    return {
      sent: sent.map(({ where, bytes }) => ({ where, bytes: Buffer.concat(bytes) })),
      netns: [...netns],
    };
  }

  /** A call with its result; one that another thread's line interrupted is put together. */
  #whole(line: string): readonly [thread: string, name: string, args: string, result: string] | undefined {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      this.#unfinished.set(thread, rest.slice(0, -'<unfinished ...>'.length).trimEnd());
      return undefined;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const whole = resumed === null ? rest : `${this.#unfinished.get(thread) ?? ''}${resumed[1]}`;
    const [, name, args, result] = /^(\w+)\((.*)\) += (\S+)/.exec(whole) ?? [];
    return name === undefined ? undefined : [thread, name, args ?? '', result ?? ''];
  }
}
