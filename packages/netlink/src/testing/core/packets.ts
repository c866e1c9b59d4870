import { errnoNumber, SysError } from '@heddle/sys';
import type { IndexOf } from '../../core/change.ts';
import type { Packets } from '../../session/packets.ts';
import type { Namespace } from './namespace.ts';

/** A frame that was sent. */
export interface SentFrame {
  /** Name of the link that it left by. */
  readonly link: string;
  readonly frame: Uint8Array;
}

/** Frames out of the links of a fake namespace: they are kept, and go nowhere. */
export function fakePackets(namespace: Namespace, indexOf: IndexOf): Packets {
  return {
    async send(ref, frame) {
      const link = namespace.links.get(await indexOf(ref));
      if (link === undefined) throw failure('ENXIO');
      if (!link.up) throw failure('ENETDOWN');
      namespace.frames = [...namespace.frames, { link: link.name, frame: frame.slice() }];
    },
    [Symbol.dispose]: () => undefined,
  };
}

function failure(errno: string): SysError {
  return new SysError({ syscall: 'sendto', errnum: errnoNumber(errno) ?? 0 });
}
