/** The thread that executes inputs, seen from the main one, which notices when an input hangs or eats all memory. */
import { Worker } from 'node:worker_threads';
import { FAULT, storeInput } from './corpus.ts';
import { INPUT_SIZE, type Order, type Told } from './thread.ts';

/** No execution takes a hundredth of it, however busy the machine. */
const PATIENCE = 60_000;

/** Gives orders to a thread; a new one begins where one was lost. */
export class Overseer implements Disposable {
  readonly #shared = new SharedArrayBuffer(INPUT_SIZE);
  #thread: Worker | undefined;

  /** Has an order carried out. Resolves to how many faults there were, which have been told. */
  give(order: Order): Promise<number> {
    this.#thread ??= new Worker(new URL('thread.ts', import.meta.url), {
      workerData: this.#shared,
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
    });
    const thread = this.#thread;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const giveUp = (why: string) => {
      this.#thread = undefined;
      console.log(
        `${order.target}: ${why}\n  ${storeInput(order.target, this.#current(), undefined, FAULT)}`,
      );
      resolve(1);
    };
    let last = 0;
    const watching = setInterval(() => {
      const executions = this.#executions();
      if (executions === last && executions > 0) {
        giveUp(`an input takes longer than ${PATIENCE / 1000} s`);
        void thread.terminate();
      }
      last = executions;
    }, PATIENCE);
    const onMessage = ({ text, faults }: Told) => {
      console.log(text);
      resolve(faults);
    };
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') giveUp('an input takes too much memory');
      else reject(error);
    };
    thread.on('message', onMessage).on('error', onError);
    thread.postMessage(order);
    return promise.finally(() => {
      clearInterval(watching);
      thread.off('message', onMessage).off('error', onError);
    });
  }

  [Symbol.dispose](): void {
    void this.#thread?.terminate();
  }

  #executions(): number {
    return Atomics.load(new Uint32Array(this.#shared), 0);
  }

  #current(): Uint8Array {
    const length = new Uint32Array(this.#shared)[1];
    return new Uint8Array(this.#shared, 8, length).slice();
  }
}
