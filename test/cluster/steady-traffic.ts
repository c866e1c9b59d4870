/** Pings and a TCP conversation from one pod to another that go on for as long as something happens. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { RunningLab } from '@heddle/lab';

/** From whom to whom, by their names and the other's addresses. */
export interface TrafficWay {
  readonly from: string;
  readonly to: string;
  readonly addresses: readonly string[];
}

/** What came of it. */
export interface TrafficOutcome {
  /** How many pings were sent. */
  readonly pings: number;
  /** Of those that were not answered, or could not be sent, during what, in words. */
  readonly lost: readonly string[];
  /** How many lines came back, for each address. */
  readonly lines: readonly number[];
}

interface Conversation {
  readonly client: ChildProcess;
  readonly said: Interface;
}

/** See the file's comment. */
export class SteadyTraffic implements AsyncDisposable {
  /** What happens now, to be told with what is lost. */
  during = 'nothing';
  readonly #lab: RunningLab;
  readonly #way: TrafficWay;
  readonly #lost: string[] = [];
  readonly #conversations: Conversation[] = [];
  readonly #servers: ChildProcess[] = [];
  #pings = 0;
  #isEnding = false;
  #floods: Promise<unknown> = Promise.resolve();

  private constructor(lab: RunningLab, way: TrafficWay) {
    this.#lab = lab;
    this.#way = way;
  }

  /** Returns when all of it flows. */
  static async begin(lab: RunningLab, way: TrafficWay): Promise<SteadyTraffic> {
    const traffic = new SteadyTraffic(lab, way);
    const server = await lab.spawn(way.to, [process.execPath, '-e', SERVER], { stdio: 'pipe' });
    traffic.#servers.push(server);
    if (server.stdout !== null) await once(server.stdout, 'data');
    for (const address of way.addresses) {
      const client = await lab.spawn(way.from, [process.execPath, '-e', CLIENT, address], { stdio: 'pipe' });
      if (client.stdout === null) throw new Error('the client has no stdout');
      const said = createInterface({ input: client.stdout });
      traffic.#conversations.push({ client, said });
      await once(said, 'line');
    }
    traffic.#floods = Promise.all(way.addresses.map((address) => traffic.#ping(address)));
    traffic.#floods.catch(() => {});
    return traffic;
  }

  /** Ends it, and tells. @throws when a conversation broke */
  async end(): Promise<TrafficOutcome> {
    this.#isEnding = true;
    await this.#floods;
    const lines: number[] = [];
    for (const { client, said } of this.#conversations) {
      client.stdin?.end();
      const [line] = (await once(said, 'line')) as [string];
      const { got, error } = JSON.parse(line) as { got: number; error?: string };
      if (error !== undefined) throw new Error(`the conversation broke after ${got} lines: ${error}`);
      lines.push(got);
    }
    return { pings: this.#pings, lost: this.#lost, lines };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    for (const process of [...this.#conversations.map(({ client }) => client), ...this.#servers]) {
      process.kill('SIGKILL');
    }
    await this.#floods.catch(() => {});
  }

  async #ping(to: string): Promise<void> {
    const { from } = this.#way;
    while (!this.#isEnding) {
      const { during } = this;
      const flood = await this.#lab.ask('flood', { from, to, milliseconds: 2_000, interval: 20 });
      this.#pings += flood.sent;
      const missing = flood.sent - flood.answered;
      if (missing > 0 || flood.refusals.length > 0)
        this.#lost.push(`${missing} to ${to} during ${during}: ${flood.refusals.join(', ')}`);
    }
  }
}

/** Gives back what it is given. */
const SERVER = `
require('node:net').createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(7070, '::', () => console.log('ready'));
`;

/** Sends a line every 20 ms, and has each come back, in order, until its stdin ends. */
const CLIENT = `
let sent = 0, got = 0, isEnding = false, text = '';
const socket = require('node:net').connect(7070, process.argv[1]);
const end = (error) => { console.log(JSON.stringify({ got, error })); process.exit(); };
socket.on('connect', () => {
  console.log('ready');
  setInterval(() => { if (!isEnding) socket.write(sent++ + '\\n'); else if (got === sent) end(); }, 20);
});
socket.setEncoding('utf8').on('data', (more) => {
  const lines = (text + more).split('\\n');
  text = lines.pop();
  for (const line of lines) if (Number(line) !== got++) end('line ' + line + ' came as number ' + (got - 1));
});
socket.on('error', (error) => end(error.message)).on('close', () => end('closed'));
process.stdin.on('end', () => { isEnding = true; }).resume();
`;
