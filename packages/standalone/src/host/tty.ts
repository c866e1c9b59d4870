/** `node:tty`, as much of it as the program uses. */
export function isatty(fd: number): boolean {
  return host.isTerminal(fd);
}
