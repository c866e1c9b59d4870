/** The daemon, for the programs that start it. */
export { type DaemonIo, runDaemon } from './run.ts';
