/** What the guest's init writes to its port, as `init.c` describes it. */

/** Who a frame is from. */
export const CHANNEL = { status: 0, output: 1, error: 2, report: 3 } as const;

/** A piece of what was written. */
export interface Frame {
  readonly channel: number;
  readonly bytes: Buffer;
}

/** Finds the frames in a stream that comes in pieces of any length. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete with this piece. */
  read(piece: Uint8Array): readonly Frame[] {
    const bytes = Buffer.concat([this.#rest, piece]);
    const frames: Frame[] = [];
    let at = 0;
    while (bytes.length - at >= HEAD) {
      const end = at + HEAD + bytes.readUInt32LE(at + 1);
      if (end > bytes.length) break;
      frames.push({ channel: bytes.readUInt8(at), bytes: bytes.subarray(at + HEAD, end) });
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return frames;
  }
}

const HEAD = 5;
