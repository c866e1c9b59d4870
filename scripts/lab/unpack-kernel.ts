/**
 * Takes the kernel out of the image that a boot loader gets. Emulated, the image's own unpacking would take longer than
 * all the rest of the boot. The layout is that of Documentation/arch/x86/boot.rst.
 */
import { zstdDecompressSync } from 'node:zlib';

/** @throws {Error} when the image is packed in another way than Debian's */
export function unpackKernel(image: Buffer): Buffer {
  const setupSectors = image[SETUP_SECTORS] || 4;
  const start = (setupSectors + 1) * 512 + image.readUInt32LE(PAYLOAD_OFFSET);
  // The last four bytes are the length of what is packed.
  const payload = image.subarray(start, start + image.readUInt32LE(PAYLOAD_LENGTH) - 4);
  if (payload.readUInt32LE(0) !== ZSTD) throw new Error('the kernel image is not packed with zstd');
  const kernel = zstdDecompressSync(payload);
  if (kernel.toString('latin1', 1, 4) !== 'ELF') throw new Error('the kernel image holds no ELF file');
  return kernel;
}

const SETUP_SECTORS = 0x1f1;
const PAYLOAD_OFFSET = 0x248;
const PAYLOAD_LENGTH = 0x24c;
const ZSTD = 0xfd2fb528;
