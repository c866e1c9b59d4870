/** Which plugins a plugin runs itself, as far as its configuration says. */
import { isJsonObject, type JsonObject, type JsonValue, type PluginConfig } from '@heddle/cni';

/** A plugin that another one runs. */
export interface DelegateUse {
  readonly type: string;
  /** What for: `addresses` for the one of `ipam`. */
  readonly work: 'addresses' | 'the attachment';
}

/** See the file's comment. Flannel and Multus are known; of others, only who gives addresses can be told. */
export function delegatesOf({ type, ipamType, raw }: PluginConfig): readonly DelegateUse[] {
  const addresses: readonly DelegateUse[] =
    ipamType === undefined ? [] : [{ type: ipamType, work: 'addresses' }];
  if (type === 'flannel') return [...addresses, ...flannelUses(raw)];
  if (type === 'multus' || type === 'multus-shim') return [...addresses, ...multusUses(raw)];
  return addresses;
}

/** Flannel makes a configuration for bridge, with host-local, unless its "delegate" says otherwise. */
function flannelUses(raw: JsonObject): readonly DelegateUse[] {
  const delegate = raw['delegate'];
  const own = isJsonObject(delegate) ? delegate : {};
  const ipam = isJsonObject(own['ipam']) ? own['ipam'] : (raw['ipam'] ?? {});
  return [
    { type: textOr(own['type'], 'bridge'), work: 'the attachment' },
    { type: textOr(isJsonObject(ipam) ? ipam['type'] : undefined, 'host-local'), work: 'addresses' },
  ];
}

function multusUses(raw: JsonObject): readonly DelegateUse[] {
  const delegates = Array.isArray(raw['delegates']) ? (raw['delegates'] as readonly JsonValue[]) : [];
  return delegates.filter(isJsonObject).flatMap((delegate) => {
    const plugins = Array.isArray(delegate['plugins'])
      ? (delegate['plugins'] as readonly JsonValue[])
      : [delegate];
    return plugins.filter(isJsonObject).flatMap((plugin): readonly DelegateUse[] => {
      const ipam = plugin['ipam'];
      const uses: readonly DelegateUse[] = [
        { type: textOr(plugin['type'], ''), work: 'the attachment' },
        { type: textOr(isJsonObject(ipam) ? ipam['type'] : undefined, ''), work: 'addresses' },
      ];
      return uses.filter(({ type }) => type !== '');
    });
  });
}

function textOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
