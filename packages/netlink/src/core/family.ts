/** AF_*: address families in message headers — linux/socket.h */
export const AF = { UNSPEC: 0, INET: 2, BRIDGE: 7, INET6: 10 } as const;

/** An IP version. */
export type Family = 4 | 6;

/** The kernel's number of an IP version; of "any" for none. */
export function afOf(family: Family | undefined): number {
  if (family === undefined) return AF.UNSPEC;
  return family === 4 ? AF.INET : AF.INET6;
}

/** The IP version of a kernel's number; `undefined` for other families. */
export function familyOf(af: number): Family | undefined {
  if (af === AF.INET) return 4;
  return af === AF.INET6 ? 6 : undefined;
}
