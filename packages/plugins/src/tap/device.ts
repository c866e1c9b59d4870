/** Making tap devices (linux/if_tun.h; Documentation/networking/tuntap.rst in the kernel's sources). */
import { CNI_CODE, CniError } from '@heddle/cni';
import { type Fd, ioctl, ioctlValue, type NetnsHandle, O, openFile, runInNetns, SysError } from '@heddle/sys';
import { encode, fixedString, pad, struct, u16 } from '@heddle/wire';

/** What a new device is given. */
export interface TapOptions {
  /** Whether several processes or threads may open it, each with a queue of its own. */
  readonly multiQueue: boolean;
  /** The user and the group that may open it. */
  readonly owner?: number | undefined;
  readonly group?: number | undefined;
}

/**
 * Makes a device that stays when nobody has it open. It is down.
 *
 * Whoever opens it chooses anew whether packets come with a header for offloading, and without a protocol field
 * in front; only the number of queues is a matter of making it.
 *
 * @throws {CniError} code 141 when the namespace has a device of that name
 * @throws {SysError} ENOENT or ENODEV when the kernel has no such devices
 */
export function makeTap(netns: NetnsHandle, name: string, { multiQueue, owner, group }: TapOptions): void {
  using device = openCloneDevice(netns);
  // Without IFF_TUN_EXCL the kernel would hand out a device that is there already.
  const flags = IFF.TAP | IFF.NO_PI | IFF.VNET_HDR | IFF.TUN_EXCL | (multiQueue ? IFF.MULTI_QUEUE : 0);
  try {
    ioctl(device, TUNSETIFF, encode(ifreqFlags, { name, flags }));
  } catch (cause) {
    if (!SysError.is(cause, 'EBUSY')) throw cause;
    throw new CniError(CNI_CODE.EXISTS, `a tap device ${name} already exists`, { cause });
  }
  if (owner !== undefined) ioctlValue(device, TUNSETOWNER, owner);
  if (group !== undefined) ioctlValue(device, TUNSETGROUP, group);
  ioctlValue(device, TUNSETPERSIST, 1);
}

/** Opens the file that makes devices, in a namespace. @throws {SysError} when the kernel has none */
export function openCloneDevice(netns: NetnsHandle | undefined): Fd {
  const open = () => openFile(CLONE_DEVICE, O.RDWR);
  return netns === undefined ? open() : runInNetns(netns, open);
}

const CLONE_DEVICE = '/dev/net/tun';

const IFF = { TAP: 0x2, NO_PI: 0x1000, VNET_HDR: 0x4000, TUN_EXCL: 0x8000, MULTI_QUEUE: 0x100 } as const;

const TUNSETIFF = 0x400454ca;
const TUNSETPERSIST = 0x400454cb;
const TUNSETOWNER = 0x400454cc;
const TUNSETGROUP = 0x400454ce;

/** struct ifreq with ifr_flags — linux/if.h */
const ifreqFlags = struct('ifreq', { name: fixedString(16), flags: u16, rest: pad(22) });
