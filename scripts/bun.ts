/** Bun, which makes one file of a program that runs long. */
import { copyFileSync, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ADDON = 'packages/sys/build/heddle_sys.node';

/** Bun's program as npm brings it; the baseline build runs on processors without AVX2 too. */
export function bunPath(): string {
  const names =
    process.arch === 'arm64' ? ['bun-linux-aarch64'] : ['bun-linux-x64-baseline', 'bun-linux-x64'];
  const found = names.map((name) => `node_modules/@oven/${name}/bin/bun`).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`bun for ${process.arch} is not installed: run npm ci`);
  return found;
}

/** Puts the addon beside a program, unless it is there. */
export function putAddonInto(directory: string): void {
  const beside = join(directory, 'heddle_sys.node');
  if (existsSync(beside) && statSync(beside).mtimeMs >= statSync(ADDON).mtimeMs) return;
  copyFileSync(ADDON, `${beside}.${process.pid}`);
  renameSync(`${beside}.${process.pid}`, beside);
}
