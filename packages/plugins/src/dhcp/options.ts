/** DHCP options as configurations name them. */

/**
 * The code of an option: one of the reference's names, or a number as text.
 *
 * @returns undefined for a text that names none
 * @example optionCode('host-name') // 12
 */
export function optionCode(text: string): number | undefined {
  if (Object.hasOwn(OPTION_NAMES, text)) return OPTION_NAMES[text];
  return /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}

/** Whether a configuration may give the option a value: not those that make a message what it is. */
export function isProvidable(code: number): boolean {
  return code > 0 && code < 255 && !PROTOCOL_OWN.has(code);
}

/**
 * What is asked for unless the configuration has `skipDefault`, in the order in which a server should answer:
 * subnet mask, classless routes before routers (RFC 3442), static routes, and what name resolution needs.
 */
export const DEFAULT_REQUEST: readonly number[] = [1, 121, 3, 33, 6, 15, 119];

const OPTION_NAMES: Readonly<Record<string, number | undefined>> = {
  'subnet-mask': 1,
  routers: 3,
  'host-name': 12,
  'vendor-class-identifier': 60,
  'dhcp-client-identifier': 61,
  'user-class': 77,
};

/** Requested address, lease time, overload, message type, server identifier. */
const PROTOCOL_OWN: ReadonlySet<number> = new Set([50, 51, 52, 53, 54]);
