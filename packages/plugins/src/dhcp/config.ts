/** The configuration of dhcp: its schema, and the options that it comes to. */
import { bool, int, parseCniArgsLeniently } from '@heddle/cni';
import { DEFAULT_SOCKET } from '@heddle/dhcp/places';
import * as v from 'valibot';
import { DEFAULT_REQUEST, isProvidable, optionCode } from './options.ts';

const shortText = v.pipe(
  v.string(),
  v.check(
    (text) => new TextEncoder().encode(text).length <= 255,
    'expected at most 255 bytes, as many as an option holds',
  ),
);

const optionName = v.pipe(
  v.string(),
  v.check(
    (text) => text === '' || optionCode(text) !== undefined,
    ({ input }) => `unknown DHCP option ${JSON.stringify(input)}`,
  ),
  v.description('an option by name (host-name, user-class, …) or by number'),
);

/** The members that dhcp reads. */
export const dhcpConfig = v.object({
  ipam: v.optional(
    v.object({
      daemonSocketPath: v.pipe(
        v.optional(v.string(), ''),
        v.description('where the daemon listens'),
        v.metadata({ default: DEFAULT_SOCKET }),
      ),
      priority: v.pipe(v.optional(int(), 0), v.description('the metric of the routes, unless 0')),
      provide: v.pipe(
        v.optional(
          v.array(
            v.object({
              option: v.pipe(
                optionName,
                v.check(
                  (text) => isProvidable(optionCode(text) ?? 0),
                  ({ input }) => `the DHCP option ${JSON.stringify(input)} cannot be given a value`,
                ),
              ),
              value: v.pipe(v.optional(shortText, ''), v.description('its value')),
              fromArg: v.pipe(
                v.optional(shortText, ''),
                v.description('the key of CNI_ARGS whose value it gets, when that is there'),
              ),
            }),
          ),
          [],
        ),
        v.description('options to send: with a value, or with the value of a key in CNI_ARGS'),
      ),
      request: v.pipe(
        v.optional(
          v.array(
            v.object({
              option: v.optional(optionName, ''),
              skipDefault: v.pipe(
                v.optional(bool, false),
                v.description('whether the usual options are not asked for'),
              ),
            }),
          ),
          [],
        ),
        v.description('options to ask for before those that are always asked for, unless skipDefault is set'),
      ),
    }),
  ),
});

/** A valid configuration. */
export type DhcpConfig = v.InferOutput<typeof dhcpConfig>;

/** Where the daemon listens. */
export function socketPathOf({ ipam }: DhcpConfig): string {
  const path = ipam?.daemonSocketPath ?? '';
  return path === '' ? DEFAULT_SOCKET : path;
}

/** The options to send, in base64; later ones take the place of earlier ones. An entry without a value sends none. */
export function providedOptions(
  { ipam }: DhcpConfig,
  cniArgs: string,
): { readonly code: number; readonly data: string }[] {
  const args = new Map(parseCniArgsLeniently(cniArgs));
  const values = new Map<number, string>();
  for (const { option, value, fromArg } of ipam?.provide ?? []) {
    const code = optionCode(option);
    const text = (fromArg === '' ? undefined : args.get(fromArg)) ?? value;
    if (code !== undefined && text !== '') values.set(code, Buffer.from(text).toString('base64'));
  }
  return [...values].map(([code, data]) => ({ code, data }));
}

/** The codes of the options to ask for. */
export function requestedOptions({ ipam }: DhcpConfig): number[] {
  const entries = ipam?.request ?? [];
  const named = entries.flatMap(({ option }) => (option === '' ? [] : (optionCode(option) ?? [])));
  const defaults = entries.some(({ skipDefault }) => skipDefault) ? [] : DEFAULT_REQUEST;
  return [...new Set([...named, ...defaults])];
}
