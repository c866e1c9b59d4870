/**
 * Whose turn it is at an attachment: a locked file for each one that somebody works on, between all processes that
 * serve plugins. A turn ends with its process, however that ends.
 */
import { attachmentKey, CNI_CODE, CniError } from '../index.ts';
import { type Operation, ownerTag, tagKey } from '../plugin/index.ts';
import type { DelQueue } from './del-queue.ts';
import { lockFile, removeLockFile, tryLockFile } from './lock-file.ts';

/** Where the files are, and how long to wait. */
export interface AttachmentTurnsOptions {
  /** Default `/run/heddle/attachments`. */
  readonly directory?: string;
  /** Milliseconds until a wait is given up. Default a minute. */
  readonly patience?: number;
  /** Where DELs wait that an ADD makes void. */
  readonly queue?: DelQueue;
}

/** See the file's comment. */
export class AttachmentTurns {
  readonly #directory: string;
  readonly #patience: number;
  readonly #queue: DelQueue | undefined;
  #waiting = 0;

  constructor({
    directory = '/run/heddle/attachments',
    patience = 60_000,
    queue,
  }: AttachmentTurnsOptions = {}) {
    this.#directory = directory;
    this.#patience = patience;
    this.#queue = queue;
  }

  /** How many operations of this process wait for their turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Waits for the turn.
   *
   * @param signal ends the wait with its reason
   * @throws {CniError} code 11 when others keep the attachment for too long
   */
  async take(operation: Operation, signal?: AbortSignal): Promise<Disposable> {
    const path = `${this.#directory}/${tagKey(ownerTag(operation.attachment))}`;
    const file = tryLockFile(path) ?? (await this.#wait(path, operation, signal));
    const turn = { [Symbol.dispose]: () => removeLockFile(file, path) };
    try {
      if (operation.command === 'ADD') this.#queue?.forget(operation);
      return turn;
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
  }

  async #wait(path: string, { command, attachment }: Operation, signal: AbortSignal | undefined) {
    const enough = AbortSignal.timeout(this.#patience);
    this.#waiting++;
    try {
      return await lockFile(
        path,
        'exclusive',
        signal === undefined ? enough : AbortSignal.any([enough, signal]),
      );
    } catch (error) {
      if (!enough.aborted || signal?.aborted) throw error;
      throw new CniError(
        CNI_CODE.TRY_AGAIN,
        `${command} of ${attachmentKey(attachment)}: another operation on it has not ended in ${this.#patience / 1000} s`,
      );
    } finally {
      this.#waiting--;
    }
  }
}
