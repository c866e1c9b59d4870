/** The machine that is a process of this one: user-mode Linux, and one more process for each of its programs. */
import { spawn } from 'node:child_process';
import { CONSOLE_FD, INITRD_FD, PORT_FD, type Start } from './machine.ts';

/** Starts it. */
export const startUserMode: Start = ({ image }, initrd, terminal) => {
  const machine = [
    ...['mem=2G', `initrd=/dev/fd/${INITRD_FD}`, 'quiet', 'panic=-1'],
    ...['con=null', `con0=${terminal ? 'fd:0,fd:1' : `fd:${CONSOLE_FD}`}`],
    ...['ssl=null', `ssl0=null,fd:${PORT_FD}`],
  ];
  const user = terminal ? 'inherit' : 'ignore';
  // Its programs are processes that it traces: in a PID namespace of their own they end with it.
  const apart = ['--pdeathsig', 'KILL', '--', 'unshare', '--mount', '--pid', '--fork', '--kill-child'];
  return spawn('setpriv', [...apart, '--', 'sh', '-c', READ_ONLY, 'sh', image, ...machine], {
    stdio: [user, terminal ? 'inherit' : 'ignore', 'pipe', 'pipe', terminal ? 'ignore' : 'pipe', initrd],
  });
};

/**
 * Its guest sees the files of this machine by hostfs, which could write. The shell stays: a first process of a namespace cannot
 * end itself by a signal, as a kernel does that panics.
 */
const READ_ONLY = 'mount -o remount,bind,ro / && "$@"; exit $?';
