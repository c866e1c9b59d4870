/** A decoder with a fault that chance does not meet: five bytes, each compared on its own, lead to it. */

/** What the decoder refuses input with. */
export class PlantedError extends Error {}

/** Reads a record. */
export function decodePlanted(bytes: Uint8Array): number {
  if (bytes[0] !== 0xc4) throw new PlantedError('no mark');
  if (bytes[1] !== 0x17) throw new PlantedError('no second mark');
  if (bytes[2] === 0x9b && bytes[3] === 0x61) {
    if (bytes[4] === 0x75) {
      // The fault: what is not there is read all the same.
      const payload = undefined as Uint8Array | undefined;
      return (payload as Uint8Array).length;
    }
  }
  return bytes.length;
}

/** Goes round for ever when the input ends with a zero behind its mark. */
export function decodeForEver(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = bytes[at] as number;
    at += length;
  }
  return at;
}

/** Compares every byte with every other. */
export function decodeSlowly(bytes: Uint8Array): number {
  let same = 0;
  for (const one of bytes) for (const other of bytes) if (one === other) same++;
  return same;
}
