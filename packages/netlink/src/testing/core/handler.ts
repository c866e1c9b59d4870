import type { Reply } from '../../core/message.ts';
import type { Namespace } from './namespace.ts';

/** A request as the table that it is about sees it. */
export interface Request {
  /** NLM_F_* */
  readonly flags: number;
  readonly body: Uint8Array;
}

/** Carries out a request and gives what it is answered with beside the acknowledgement. */
export type Handler = (namespace: Namespace, request: Request) => readonly Reply[] | undefined;

/** What a table does, by the type of the request; `dump` lists. */
export interface Handlers {
  readonly change?: Handler;
  readonly get?: Handler;
  readonly dump?: Handler;
}

/** Handlers by message type. */
export type HandlerTable = ReadonlyMap<number, Handlers>;
