/** Kernel parameters under /proc/sys, as a namespace sees them — sysctl(8) */
import { type NetnsHandle, readFileIn, SysError, writeFileIn, writeFilesIn } from '@heddle/sys';

/**
 * The kernel parameters of a namespace. A name's parts are separated by `/` or by `.`, whichever comes
 * first; the other one then stands for itself, as in `net.ipv4.conf.eth0/100.forwarding`.
 */
export interface Sysctl {
  /**
   * A parameter's value, without white space around it.
   *
   * @example await session.sysctl.read('net/ipv4/ip_forward') // '1'
   * @throws {SysError} ENOENT when there is no such parameter
   */
  read(name: string): Promise<string>;
  /**
   * Sets a parameter.
   *
   * @throws {SysError} ENOENT when there is no such parameter, EINVAL for a value that the kernel refuses
   */
  write(name: string, value: string | number): Promise<void>;
  /**
   * Sets several parameters, as far as they can be set, in one visit to the namespace.
   *
   * @returns the refusals, by parameter
   * @example const refused = await session.sysctl.tryWrite({ 'net/ipv6/conf/eth0/accept_ra': '0' });
   */
  tryWrite(values: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, SysError>>;
  /** Whether there is such a parameter. */
  has(name: string): Promise<boolean>;
}

/** The parameters of a namespace of this machine; of the caller's own for `undefined`. */
export function kernelSysctl(netns: () => NetnsHandle | undefined): Sysctl {
  return {
    read: async (name) => readFileIn(netns(), pathOf(name)).trim(),
    write: async (name, value) => writeFileIn(netns(), pathOf(name), String(value)),
    async tryWrite(values) {
      const names = Object.keys(values);
      const refusals = writeFilesIn(
        netns(),
        names.map((name) => ({ path: pathOf(name), text: values[name] ?? '' })),
      );
      return new Map(names.flatMap((name, index) => ifRefused(name, refusals[index])));
    },
    async has(name) {
      try {
        readFileIn(netns(), pathOf(name));
        return true;
      } catch (error) {
        if (SysError.is(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return false;
        // It is there but cannot be read, at all or now.
        if (SysError.is(error, 'EACCES', 'EPERM', 'EINVAL', 'EIO')) return true;
        throw error;
      }
    },
  };
}

/**
 * The file of a parameter.
 *
 * @throws {SysError} ENOENT for a name that leads out of /proc/sys
 */
export function pathOf(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  const path = separator === '.' ? name.replace(/[./]/g, (sign) => (sign === '.' ? '/' : '.')) : name;
  const file = `/proc/sys/${path}`;
  if (path.split('/').includes('..')) throw new SysError({ syscall: 'open', errnum: ENOENT, path: file });
  return file;
}

function ifRefused(name: string, refusal: SysError | undefined): readonly (readonly [string, SysError])[] {
  return refusal === undefined ? [] : [[name, refusal]];
}

const ENOENT = 2;
