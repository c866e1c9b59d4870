/**
 * The numbers that a CNI error object may carry.
 *
 * 1 to 99 are the specification's (CNI 1.1.0, "Error"); 8 and 999 are additions of the reference
 * implementation that runtimes know. From 100 on the numbers are Heddle's own, one per class of failure.
 * `docs/errors.md` explains each; a test keeps it equal to this table.
 */

/** Error codes by name: the specification's, then Heddle's own from 100 on. */
export const CNI_CODE = {
  /** The configuration asks for a version that the plugin does not speak. */
  INCOMPATIBLE_VERSION: 1,
  /** A field, or its value, is not supported; the message names both. */
  UNSUPPORTED_FIELD: 2,
  /** The container is unknown or gone; the runtime need not clean up. */
  UNKNOWN_CONTAINER: 3,
  /** A `CNI_…` variable is missing or invalid; the message names it. */
  INVALID_ENVIRONMENT: 4,
  /** Reading or writing failed, for instance of the configuration on stdin. */
  IO_FAILURE: 5,
  /** Some text could not be decoded: not JSON, or not a version. */
  DECODING_FAILURE: 6,
  /** The network configuration is not valid. */
  INVALID_CONFIG: 7,
  /** CNI_NETNS is no network namespace, or it is the plugin's own. */
  INVALID_NETNS: 8,
  /** A transient condition; the runtime should try again later. */
  TRY_AGAIN: 11,
  /** STATUS: the plugin cannot serve ADD now. */
  PLUGIN_NOT_AVAILABLE: 50,
  /** STATUS: as 50, and existing containers may have limited connectivity. */
  LIMITED_CONNECTIVITY: 51,
  /** Address management refused, for a reason other than an exhausted pool (11). */
  IPAM: 100,
  /** The kernel refused a netlink request; the message carries its own words. */
  NETLINK: 110,
  /** A system call failed. */
  SYSTEM: 120,
  /** A binary message could not be encoded or decoded. */
  WIRE: 130,
  /** Something that must exist does not. */
  NOT_FOUND: 140,
  /** Something exists that must not. */
  EXISTS: 141,
  /** A CHECK found the attachment different from what was set up. */
  DRIFT: 150,
  /** Several failures with different codes; the message lists them. */
  SEVERAL: 190,
  /** A failure without a code of its own. */
  INTERNAL: 999,
} as const;

/** The names of {@link CNI_CODE}. */
export type CniCodeName = keyof typeof CNI_CODE;

/** The name of a code number, or `undefined` for a number that the table does not hold. */
export function codeName(code: number): CniCodeName | undefined {
  return (Object.keys(CNI_CODE) as CniCodeName[]).find((name) => CNI_CODE[name] === code);
}

/**
 * The CNI code for the stable `code` string of a `HeddleError` from any package, or `undefined`
 * when nothing is known about it. Strings rather than classes: the contract imports no kernel package.
 */
export function codeForHeddleError(code: string): number | undefined {
  return BY_CODE[code] ?? BY_FAMILY.find(([prefix]) => code.startsWith(prefix))?.[1];
}

const BY_CODE: Readonly<Record<string, number>> = {
  ADDR_INVALID: CNI_CODE.INVALID_CONFIG,
  IPAM_RANGE_INVALID: CNI_CODE.INVALID_CONFIG,
  IPAM_POOL_INVALID: CNI_CODE.INVALID_CONFIG,
  IPAM_BUSY: CNI_CODE.TRY_AGAIN,
  IPAM_NODE_LOST: CNI_CODE.TRY_AGAIN,
  CLUSTER_NODE_ABSENT: CNI_CODE.TRY_AGAIN,
  CLUSTER_NODE_NOT_READY: CNI_CODE.TRY_AGAIN,
  POOL_EXHAUSTED: CNI_CODE.TRY_AGAIN,
  STORE_CONFLICT: CNI_CODE.TRY_AGAIN,
  STORE_UNAVAILABLE: CNI_CODE.TRY_AGAIN,
};

const BY_FAMILY: readonly (readonly [prefix: string, code: number])[] = [
  ['IPAM_', CNI_CODE.IPAM],
  ['CLUSTER_', CNI_CODE.IPAM],
  ['STORE_', CNI_CODE.IO_FAILURE],
  ['NETLINK', CNI_CODE.NETLINK],
  ['SYSCALL_', CNI_CODE.SYSTEM],
  ['WIRE_', CNI_CODE.WIRE],
];
