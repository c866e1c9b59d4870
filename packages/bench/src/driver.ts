/** The native driver as a process: requests in, answers out, one after the other. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { BenchError } from './bench-error.ts';
import { decodeTexts, encodeTexts, firstText, type Text } from './texts.ts';

/** See the file's comment. */
export class Driver implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #closed: Promise<unknown>;
  #received = Buffer.alloc(0);
  #complaint = '';
  #waiting: PromiseWithResolvers<readonly Buffer[]> | undefined;
  /** Why there will be no more answers. */
  #end: BenchError | undefined;

  /**
   * @param args see `native/main.c`
   * @throws {BenchError} BENCH_DRIVER when it was not built
   */
  constructor(args: readonly string[]) {
    this.#child = spawn(driverProgram(), args, { stdio: ['pipe', 'pipe', 'pipe'], env: {} });
    this.#closed = once(this.#child, 'close');
    this.#child.stdout.on('data', (piece: Buffer) => this.#receive(piece));
    this.#child.stderr.on('data', (piece: Buffer) => (this.#complaint += piece.toString()));
    // A driver that is gone is told of by its end.
    this.#child.stdin.on('error', () => {});
    this.#closed.then(
      () => this.#fail(this.#complaint.trim() || 'it is gone'),
      (error: Error) => this.#fail(error.message),
    );
  }

  /** What the driver says next, which it does when it starts, and after each request. */
  answer(): Promise<readonly Buffer[]> {
    const waiting = Promise.withResolvers<readonly Buffer[]>();
    this.#waiting = waiting;
    this.#deliver();
    if (this.#end !== undefined) waiting.reject(this.#end);
    return waiting.promise;
  }

  /**
   * Asks for something.
   *
   * @throws {BenchError} BENCH_DRIVER when the driver ends instead of answering
   */
  async ask(request: readonly Text[]): Promise<readonly Buffer[]> {
    this.#child.stdin.write(encodeTexts([encodeTexts(request)]));
    return await this.answer();
  }

  /** Ends the driver, and with it everything in its node. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    this.#child.kill('SIGTERM');
    await this.#closed.catch(() => {});
  }

  #receive(piece: Buffer): void {
    this.#received = Buffer.concat([this.#received, piece]);
    this.#deliver();
  }

  #deliver(): void {
    const text = firstText(this.#received);
    if (text === undefined || this.#waiting === undefined) return;
    const answer = Buffer.from(this.#received.subarray(text.start, text.end));
    this.#received = this.#received.subarray(text.end + 1);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting.resolve(decodeTexts(answer));
  }

  #fail(why: string): void {
    this.#end = new BenchError('BENCH_DRIVER', `the driver has ended: ${why}`);
    this.#waiting?.reject(this.#end);
    this.#waiting = undefined;
  }
}

/** In its package; a bundle of the command lies elsewhere in the repository. */
function driverProgram(): string {
  const [own, fromBundle] = ['..', '../../../packages/bench'].map((root) =>
    fileURLToPath(new URL(`${root}/build/heddle-bench-driver`, import.meta.url)),
  ) as [string, string];
  const found = [own, fromBundle].find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new BenchError('BENCH_DRIVER', `the driver is not built: there is no ${own}`, { hint: 'make build' });
}
