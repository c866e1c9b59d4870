/** How the agent is, in figures. */
import type { AgentEvent } from './events.ts';

/** Calls of one command. */
export interface CallFigures {
  readonly done: number;
  /** Of these, how many ended in an error. */
  readonly failed: number;
  /** Milliseconds that all of them took together. */
  readonly milliseconds: number;
}

/** What the agent says of itself. */
export interface AgentStatus {
  readonly version: string;
  readonly pid: number;
  /** When it began: an ISO date. */
  readonly since: string;
  readonly calls: Readonly<Record<string, CallFigures>>;
  /** Calls that were left to their callers. */
  readonly declined: number;
  /** DELs that were done from the queue. */
  readonly replayed: number;
  /** Clients that were dropped, and whatever else went wrong. */
  readonly troubles: number;
  /** Clients that are served now. */
  readonly clients: number;
  readonly waitingDels: number;
  /** Resident bytes. */
  readonly memory: number;
}

/** Counts what happens. */
export class Tally {
  readonly #since = new Date();
  readonly #calls = new Map<string, CallFigures>();
  #declined = 0;
  #replayed = 0;
  #troubles = 0;

  count(event: AgentEvent): void {
    switch (event.kind) {
      case 'served':
        this.#countCall(event.call.env['CNI_COMMAND'] ?? '', event.outcome.exitCode, event.milliseconds);
        return;
      case 'declined':
        this.#declined++;
        return;
      case 'replayed':
        this.#replayed++;
        return;
      case 'trouble':
        this.#troubles++;
        return;
      case 'replaced':
        return;
    }
  }

  read(): Pick<AgentStatus, 'since' | 'calls' | 'declined' | 'replayed' | 'troubles'> {
    return {
      since: this.#since.toISOString(),
      calls: Object.fromEntries(this.#calls),
      declined: this.#declined,
      replayed: this.#replayed,
      troubles: this.#troubles,
    };
  }

  #countCall(command: string, exitCode: number, milliseconds: number): void {
    const before = this.#calls.get(command) ?? { done: 0, failed: 0, milliseconds: 0 };
    this.#calls.set(command, {
      done: before.done + 1,
      failed: before.failed + (exitCode === 0 ? 0 : 1),
      milliseconds: before.milliseconds + milliseconds,
    });
  }
}
