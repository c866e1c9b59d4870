export { type Aside, closeAside, sendAside } from './aside.ts';
export { AF, IN, MSG, NETLINK, NETLINK_OPTION, O, SO, SOCK, SOL } from './constants.ts';
export { sha512 } from './digest.ts';
export { makeDirectory } from './directory.ts';
export { errnoName, errnoNumber, errnoText } from './errno.ts';
export { Fd } from './fd.ts';
export {
  fsync,
  linkCount,
  linkFd,
  openFile,
  read,
  readFileIn,
  statfsMagic,
  unlink,
  write,
  writeFileIn,
  writeFilesIn,
} from './file.ts';
export { type InotifyEvent, inotifyAdd, inotifyCreate, inotifyDrain, inotifyRemove } from './inotify.ts';
export { flock, flockAsync, type LockMode } from './lock.ts';
export {
  bindPath,
  enterPrivateMounts,
  mountOverlay,
  mountProc,
  mountSysfs,
  mountTmpfs,
  setReadOnly,
  unmount,
} from './mount.ts';
export {
  createMounts,
  currentMounts,
  type MountsHandle,
  openMounts,
  openPids,
  type PidsHandle,
  reap,
  runInMounts,
  runInNewPids,
  runInPids,
} from './namespaces.ts';
export {
  bindNetns,
  createNetns,
  currentNetns,
  identityOf,
  NetnsHandle,
  openNetns,
  runInNetns,
  shareMount,
  unbindNetns,
} from './netns.ts';
export {
  accept,
  attachFilter,
  bind,
  connect,
  ethtool,
  getpeername,
  getsockname,
  getsockopt,
  ioctl,
  ioctlValue,
  listen,
  netnsCookie,
  type PeerCredentials,
  peerCredentials,
  recv,
  recvDescriptors,
  recvFrom,
  type SocketOptions,
  send,
  sendDescriptors,
  setsockopt,
  socket,
} from './socket.ts';
export { SysError, type SysFailure } from './sys-error.ts';
export { transact, transactSync } from './transact.ts';
export { watch } from './watch.ts';
