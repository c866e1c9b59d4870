/** Masquerading as main plugins offer it: `ipMasq` and `ipMasqBackend` of the configuration. */
import { bool, CniError, ConfigError, type Result } from '@heddle/cni';
import type { AddCall, CheckCall } from '@heddle/cni/plugin';
import type { NatBackend } from '@heddle/dataplane';
import { HeddleError } from '@heddle/errors';
import { Prefix } from '@heddle/netaddr';
import * as v from 'valibot';
import type { Findings } from './findings.ts';
import type { PlannedAddress } from './plan-routes.ts';

/** The members of a configuration that are about masquerading. */
export const masqueradeEntries = {
  ipMasq: v.pipe(v.optional(bool, false), v.description('whether the host masquerades for the container')),
  ipMasqBackend: v.pipe(
    v.optional(v.string(), ''),
    v.description('what masquerades'),
    v.metadata({ enum: ['', 'nftables', 'iptables'], default: 'nftables' }),
  ),
};

const masqueradeConfig = v.object(masqueradeEntries);

/** The common part of a valid configuration. */
export type MasqueradeConfig = v.InferOutput<typeof masqueradeConfig>;

/** What masquerades: nftables unless the configuration says otherwise. @throws {ConfigError} for another word */
export function masqueradeBackend({ ipMasqBackend }: Pick<MasqueradeConfig, 'ipMasqBackend'>): NatBackend {
  switch (ipMasqBackend) {
    case '':
    case 'nftables':
      return 'nftables';
    case 'iptables':
      return 'iptables';
    default:
      throw new ConfigError(`unknown ipMasqBackend "${ipMasqBackend}"`, {
        pointer: '/ipMasqBackend',
        expected: '"nftables" or "iptables"',
        received: JSON.stringify(ipMasqBackend),
      });
  }
}

/** Masquerades for an attachment's addresses, and registers the undo. */
export async function masquerade(
  { config, host, attachment, undo }: AddCall<MasqueradeConfig>,
  addresses: readonly PlannedAddress[],
): Promise<void> {
  const backend = masqueradeBackend(config);
  const { addMasquerade, removeMasquerade } = await import('./host-rules.ts');
  const prefixes = addresses.map(({ prefix }) => prefix);
  undo.push('remove masquerading', () => removeMasquerade(host, attachment, prefixes));
  await addMasquerade(host, attachment, prefixes, { backend });
}

/** What of {@link masquerade} is missing, in words. */
export async function masqueradeFindings(
  { config, host, attachment }: CheckCall<MasqueradeConfig>,
  result: Result,
): Promise<Findings> {
  const { checkMasquerade } = await import('./host-rules.ts');
  const prefixes = (result.ips ?? []).map(({ address }) => Prefix.parse(address));
  const check = (backend: NatBackend) =>
    findingsOf(() => checkMasquerade(host, attachment, prefixes, { backend }));
  const findings = await check(masqueradeBackend(config));
  if (findings.length === 0 || config.ipMasqBackend !== '') return findings;
  // Where nobody chose, the attachment may be the reference's, whose choice is iptables.
  return (await check('iptables')).length === 0 ? [] : findings;
}

/** The findings of a check of another package, which says what is different by throwing. */
export async function findingsOf(check: () => Promise<void>): Promise<Findings> {
  try {
    await check();
    return [];
  } catch (error) {
    if (error instanceof HeddleError) return [error instanceof CniError ? error.msg : error.message];
    throw error;
  }
}
