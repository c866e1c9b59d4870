/** How a machine of the lab is started, whatever it runs on. */
import type { ChildProcess } from 'node:child_process';
import type { Kernel } from './kernel.ts';

/** The descriptor of a started machine that its guest writes frames to. */
export const PORT_FD = 3;
/** The one that has its console, where that is not the terminal. */
export const CONSOLE_FD = 4;
/** The one that its initramfs is read from. */
export const INITRD_FD = 5;

/** Starts a machine; it ends with this process, however that ends. */
export type Start = (kernel: Kernel, initrd: number, terminal: boolean) => ChildProcess;
