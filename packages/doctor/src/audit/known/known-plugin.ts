/** What is known of a plugin type, whoever made it: enough to judge a configuration, lenient with what may be newer. */
import type { CniVersion } from '@heddle/cni';

/** The JSON type of a member; several where releases or decoders differ. `any` is not looked at. */
export type MemberType =
  | 'text'
  | 'number'
  | 'flag'
  | 'list'
  | 'object'
  | 'any'
  | 'text or number'
  | 'text or list';

/** The members of an object by name. */
export type Members = Readonly<Record<string, MemberType>>;

/** A plugin type. */
export interface KnownPlugin {
  readonly type: string;
  /** Who makes it, as people call it. */
  readonly vendor: string;
  /**
   * `main` makes the interface, `meta` changes what others made, `ipam` gives addresses. `either` does one or the
   * other as it is told.
   */
  readonly role: 'main' | 'meta' | 'ipam' | 'either';
  /** The members of its object, as its decoder reads them; nothing where they are not known. */
  readonly members?: Members;
  /** The members of its `ipam` object, for an IPAM plugin. */
  readonly ipamMembers?: Members;
  readonly capabilities?: readonly string[];
  /**
   * Who gives the addresses: the plugin that `ipam.type` names, with the very text of the file (`delegate`), the
   * same after the plugin has filled in what is missing (`filled`), or the plugin itself (`own`).
   */
  readonly addresses: 'delegate' | 'filled' | 'own';
  /** Whether it is the network of a cluster: of these, one node has one. */
  readonly isCluster?: boolean;
  readonly enforcesPolicy?: boolean;
  readonly mapsPorts?: boolean;
  /** The oldest version of the specification that it speaks, where that is not the first. */
  readonly since?: CniVersion;
}

/**
 * Members by their type, each type with the names in one text.
 *
 * @example members({ text: 'logLevel logFile', number: 'mtu' }) // { logLevel: 'text', logFile: 'text', mtu: 'number' }
 */
export function members(names: Readonly<Partial<Record<MemberType, string>>>): Members {
  const types = Object.keys(names) as readonly MemberType[];
  return Object.fromEntries(
    types.flatMap((type) => (names[type] ?? '').split(' ').map((name) => [name, type] as const)),
  );
}
