/** Hands spans on in batches, so that no call waits for whoever collects them. */
import { otlpRequest, type TraceResource } from './otlp.ts';
import type { Span } from './span.ts';

/** Delivers one request in JSON. */
export type SendTraces = (request: string) => Promise<void>;

/** How spans are handed on. */
export interface ExporterOptions {
  readonly send: SendTraces;
  readonly resource: TraceResource;
  /** Told of spans that were lost, and why. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds that spans are gathered. Default 1000. */
  readonly delay?: number;
  /** Spans that may wait; the oldest are lost then. Default 4096. */
  readonly most?: number;
}

/** See the file's comment. */
export class SpanExporter implements AsyncDisposable {
  readonly #options: ExporterOptions;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  /** Takes spans; they are sent together with those of the next moments. */
  add(spans: readonly Span[]): void {
    const { delay = 1000, most = 4096 } = this.#options;
    this.#waiting.push(...spans);
    const excess = this.#waiting.length - most;
    if (excess > 0) {
      this.#waiting.splice(0, excess);
      this.#options.onFailure(new Error(`${excess} spans were lost: they come faster than they are taken`));
    }
    this.#timer ??= setTimeout(() => void this.flush(), delay);
  }

  /** Sends what waits. Ends when that is done, or has failed. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sending.then(() => this.#send());
    await this.#sending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
  }

  async #send(): Promise<void> {
    const spans = this.#waiting;
    if (spans.length === 0) return;
    this.#waiting = [];
    try {
      await this.#options.send(otlpRequest(spans, this.#options.resource));
    } catch (error) {
      this.#options.onFailure(error);
    }
  }
}
