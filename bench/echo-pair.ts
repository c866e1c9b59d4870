/** Two containers that send each other a small packet all the time, as programs of their own: nothing here holds them up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNetns } from '@heddle/sys';
import type { Pod } from '../test/support/node.ts';

/** One round trip. */
interface RoundTrip {
  /** When the packet was sent, in milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds; `undefined` for a packet without an answer. */
  readonly took: number | undefined;
}

const PORT = 7007;
const SERVER = `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', ${PORT}))
print('ready', flush=True)
while True:
  data, who = s.recvfrom(64); s.sendto(data, who)
`;
const CLIENT = `
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.5); s.connect((sys.argv[1], ${PORT}))
n = 0
while True:
  n += 1; at = time.time(); start = time.perf_counter(); s.send(b'%d' % n)
  try:
    while s.recv(64) != b'%d' % n: pass
    print(at * 1000, (time.perf_counter() - start) * 1000, flush=True)
  except TimeoutError: print(at * 1000, 'lost', flush=True)
  time.sleep(0.005)
`;

/** See the file's comment. */
export class EchoPair implements AsyncDisposable {
  readonly #programs: readonly ChildProcess[];
  readonly #roundTrips: RoundTrip[] = [];

  private constructor(server: ChildProcess, client: ChildProcess) {
    this.#programs = [server, client];
    if (client.stdout === null) return;
    createInterface({ input: client.stdout }).on('line', (line) => {
      const [at, took] = line.split(' ');
      this.#roundTrips.push({ at: Number(at), took: took === 'lost' ? undefined : Number(took) });
    });
  }

  /** Begins. */
  static async between(from: Pod, to: Pod): Promise<EchoPair> {
    const start = (pod: Pod, script: string, ...args: readonly string[]) =>
      runInNetns(pod.handle, () =>
        spawn('python3', ['-c', script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] }),
      );
    const address = /inet ([\d.]+)/.exec(to.run('ip -o -4 address show dev eth0'))?.[1] ?? '';
    const server = start(to, SERVER);
    if (server.stdout !== null) await once(server.stdout, 'data');
    return new EchoPair(server, start(from, CLIENT, address));
  }

  /** The round trips that began in a while that has passed. */
  async during(
    start: number,
    end: number,
  ): Promise<{ readonly took: readonly number[]; readonly lost: number }> {
    // The last of them may still be waited for.
    await sleep(600);
    const some = this.#roundTrips.filter(({ at }) => at >= start && at <= end);
    const took = some.flatMap((each) => each.took ?? []);
    return { took, lost: some.length - took.length };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The client first: to one that still sends, a server that is gone is an error.
    for (const program of this.#programs.toReversed()) {
      const ended = once(program, 'exit');
      program.kill();
      await ended;
    }
  }
}
