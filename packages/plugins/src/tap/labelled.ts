/**
 * Making a tap device under an SELinux label. The device gets the label of the process that makes it, and a
 * process gets another label only by starting a program; so this is the one device that `ip` makes.
 * Source: security/selinux/hooks.c (selinux_tun_dev_create), setexeccon(3).
 */
import { spawnSync } from 'node:child_process';
import { CNI_CODE, CniError } from '@heddle/cni';
import { type NetnsHandle, runInNetns, SysError, statfsMagic, writeFileIn } from '@heddle/sys';
import type { TapOptions } from './device.ts';

/** Whether the kernel labels anything. */
export function hasSelinux(): boolean {
  try {
    return statfsMagic('/sys/fs/selinux') === SELINUX_MAGIC;
  } catch (error) {
    if (SysError.is(error, 'ENOENT')) return false;
    throw error;
  }
}

/**
 * Makes a device as `makeTap` does, with a label.
 *
 * @throws {SysError} when the policy has no such label, or does not let this process start a program under it
 * @throws {CniError} code 120 with what `ip` says
 */
export function makeLabelledTap(netns: NetnsHandle, name: string, options: TapOptions, label: string): void {
  writeFileIn(undefined, EXEC_LABEL, label);
  try {
    runIp(netns, tuntapArguments(name, options));
  } finally {
    // Nothing written, not even a line's end: the label is the process's own again.
    writeFileIn(undefined, EXEC_LABEL, '');
  }
}

/** The arguments of `ip` that ask for such a device. */
export function tuntapArguments(name: string, { multiQueue, owner, group }: TapOptions): readonly string[] {
  return [
    ...['tuntap', 'add', 'dev', name, 'mode', 'tap', 'vnet_hdr'],
    ...(multiQueue ? ['multi_queue'] : []),
    ...(owner === undefined ? [] : ['user', `${owner}`]),
    ...(group === undefined ? [] : ['group', `${group}`]),
  ];
}

function runIp(netns: NetnsHandle, args: readonly string[]): void {
  const how = { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } } as const;
  const { error, status, stderr } = runInNetns(netns, () => spawnSync('ip', args, how));
  if (error === undefined && status === 0) return;
  const why = error?.message ?? (stderr.trim() || `exit status ${status}`);
  throw new CniError(CNI_CODE.SYSTEM, `ip ${args.join(' ')}: ${why}`, { cause: error });
}

/** The label of the next program that this thread starts. */
const EXEC_LABEL = '/proc/thread-self/attr/exec';
/** linux/magic.h */
const SELINUX_MAGIC = 0xf97cff8c;
