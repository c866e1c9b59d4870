/** IFLA_GENEVE_* — linux/if_link.h; link kind "geneve" */
import type { Addr } from '@heddle/netaddr';
import {
  addr4,
  addr6,
  attr,
  attrs,
  bool,
  flag,
  type Input,
  u8,
  u16be,
  u32,
  u32be,
  type Value,
} from '@heddle/wire';

/** Data of a Geneve interface, as it is in messages: the remote has an attribute for either family. */
export const geneve = attrs('IFLA_GENEVE', {
  id: attr(1, u32),
  remote4: attr(2, addr4),
  ttl: attr(3, u8),
  tos: attr(4, u8),
  port: attr(5, u16be),
  external: attr(6, flag),
  remote6: attr(7, addr6),
  udpChecksum: attr(8, bool(u8)),
  zeroChecksum6Tx: attr(9, bool(u8)),
  zeroChecksum6Rx: attr(10, bool(u8)),
  flowLabel: attr(11, u32be),
  ttlInherit: attr(12, bool(u8)),
  dontFragment: attr(13, u8),
  innerProtocolInherit: attr(14, flag),
});

type Split = 'remote4' | 'remote6';

/** Data of a Geneve interface. */
export type GeneveData = Omit<Value<typeof geneve>, Split | 'unknown'> & {
  /** Where packets go. */
  readonly remote?: Addr;
};

/** What a Geneve interface is made from. */
export type GeneveSpec = Omit<Input<typeof geneve>, Split | 'unknown'> & {
  readonly remote?: Addr | undefined;
};

/** A Geneve interface's data in one form for both families. */
export function geneveData(raw: Omit<Value<typeof geneve>, 'unknown'>): GeneveData {
  const { remote4, remote6, ...data } = raw;
  const remote = remote4 ?? remote6;
  return { ...data, ...(remote && { remote }) };
}

/** The attributes of a Geneve interface. */
export function geneveAttributes({ remote, ...data }: GeneveSpec): Input<typeof geneve> {
  return { ...data, ...(remote && { [`remote${remote.family}`]: remote }) };
}
