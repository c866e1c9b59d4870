/** A rule of policy routing, and the requests that make and delete one. */
import type { Prefix } from '@heddle/netaddr';
import { encode } from '@heddle/wire';
import type { Change } from '../core/change.ts';
import { afOf, type Family, familyOf } from '../core/family.ts';
import { NLM_F } from '../core/header.ts';
import { prefixOf } from '../core/prefix-of.ts';
import { RTM } from '../core/rtm.ts';
import { FIB_RULE_INVERT, type RuleMessage, ruleMessage, SUPPRESS_NONE } from './codec.ts';

/** What a rule does with a packet. */
export type RuleAction = 'table' | 'goto' | 'nop' | 'blackhole' | 'unreachable' | 'prohibit' | number;

/** A range of numbers, both ends included. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Which routing table a packet is looked up in. */
export interface Rule {
  readonly family: Family;
  /** Rules are tried from the lowest to the highest. */
  readonly priority: number;
  readonly from?: Prefix;
  readonly to?: Prefix;
  readonly tos?: number;
  /** Name of the link that the packet came in by. */
  readonly iif?: string;
  /** Name of the link that the socket is bound to. */
  readonly oif?: string;
  readonly fwmark?: number;
  /** The bits of the mark that are compared. */
  readonly fwmask?: number;
  readonly table: number;
  readonly action: RuleAction;
  /** Priority of the rule to go on with, for `goto`. */
  readonly goto?: number;
  /** Whether the packet must not match. */
  readonly invert: boolean;
  /** Routes with a prefix this long or shorter are ignored. */
  readonly suppressPrefixLength?: number;
  /** The table is that of the VRF of the packet's link. */
  readonly l3mdev?: boolean;
  /** Protocol number of the packet. */
  readonly ipProtocol?: number;
  readonly sourcePorts?: Range;
  readonly destinationPorts?: Range;
  readonly uids?: Range;
  /** RTPROT_*: who made it. */
  readonly protocol?: number;
}

/** A rule to make or to delete. */
export type RuleSpec = {
  readonly [K in keyof Omit<Rule, 'family' | 'table' | 'action' | 'priority' | 'invert'>]?:
    | Rule[K]
    | undefined;
} & {
  /** That of `from` or `to`, else IPv4, when left out. */
  readonly family?: Family | undefined;
  /** Chosen by the kernel, in front of the others, when left out. */
  readonly priority?: number | undefined;
  readonly table?: number | undefined;
  /** `table` when left out. */
  readonly action?: RuleAction | undefined;
  readonly invert?: boolean | undefined;
};

/** The rule that a message describes; `undefined` for families other than IP. */
export function ruleOf(message: RuleMessage): Rule | undefined {
  const family = familyOf(message.family);
  if (family === undefined) return undefined;
  const {
    dst,
    src,
    unknown: _unknown,
    table,
    priority = 0,
    suppressPrefixLength,
    suppressGroup: _group,
    tunnelId: _tunnel,
    fwmask,
    fwmark,
    ...rest
  } = message.attributes;
  return {
    family,
    priority,
    ...(src && { from: prefixOf(src, message.srcLength, 'fib_rule_hdr', 2) }),
    ...(dst && { to: prefixOf(dst, message.dstLength, 'fib_rule_hdr') }),
    ...(message.tos !== 0 && { tos: message.tos }),
    ...rest,
    ...(fwmark !== undefined && { fwmark }),
    ...(fwmask !== undefined && { fwmask }),
    table: table ?? message.table,
    action: message.action,
    invert: (message.flags & FIB_RULE_INVERT) !== 0,
    ...(suppressPrefixLength !== undefined &&
      suppressPrefixLength !== SUPPRESS_NONE && { suppressPrefixLength }),
  };
}

/** The request that makes a rule. */
export function addRule(spec: RuleSpec): Change {
  return () => ({
    type: RTM.NEWRULE,
    flags: NLM_F.CREATE | NLM_F.EXCL,
    operation: operationOf('add', spec),
    body: bodyOf({ ...spec, action: spec.action ?? 'table' }),
  });
}

/** The request that deletes the first rule that is like `spec`. */
export function deleteRule(spec: RuleSpec): Change {
  return () => ({ type: RTM.DELRULE, operation: operationOf('delete', spec), body: bodyOf(spec) });
}

function bodyOf(spec: RuleSpec): Uint8Array {
  const { from, to, table = 0, tos, action, invert, family, ...rest } = spec;
  return encode(ruleMessage, {
    family: afOf(familyFor(spec)),
    srcLength: from?.bits,
    dstLength: to?.bits,
    tos,
    // The header's field has eight bits; FRA_TABLE is for larger numbers.
    table: table < 256 ? table : 0,
    action,
    flags: invert ? FIB_RULE_INVERT : 0,
    attributes: {
      ...rest,
      src: from?.addr,
      dst: to?.addr,
      table: table < 256 ? undefined : table,
    },
  });
}

function familyFor({ family, from, to }: RuleSpec): Family {
  return family ?? from?.family ?? to?.family ?? 4;
}

function operationOf(verb: string, spec: RuleSpec): string {
  const parts = [
    `${verb} IPv${familyFor(spec)} rule`,
    spec.priority === undefined ? '' : ` ${spec.priority}`,
    spec.from === undefined ? '' : ` from ${spec.from}`,
    spec.to === undefined ? '' : ` to ${spec.to}`,
    spec.table === undefined ? '' : ` table ${spec.table}`,
  ];
  return parts.join('');
}
