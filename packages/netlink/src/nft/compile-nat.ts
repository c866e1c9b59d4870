/** Address translation. */
import { type CompileContext, FIRST_REGISTER, registerAt } from './compile-context.ts';
import { typeInfo } from './key-types.ts';
import type { NatFlags, Statement } from './statements.ts';

type Nat = Extract<Statement, { kind: 'dnat' | 'snat' }>;
type Redirect = Extract<Statement, { kind: 'redirect' }>;

/** NF_NAT_RANGE_* — linux/netfilter/nf_nat.h */
export const NF_NAT_RANGE = {
  MAP_IPS: 1,
  PROTO_SPECIFIED: 2,
  PROTO_RANDOM: 4,
  PERSISTENT: 8,
  PROTO_RANDOM_FULLY: 16,
} as const;

/** Appends a translation to an address of the rule's own or from a map. */
export function compileNat(context: CompileContext, { kind, target, flags }: Nat): void {
  if ('to' in target) {
    const { to, port } = target;
    context.emit({ expr: 'immediate', dreg: FIRST_REGISTER, data: { value: to.toBytes() } });
    if (port !== undefined) loadPort(context, FIRST_REGISTER + 1, port);
    context.emit({
      expr: 'nat',
      type: kind,
      family: to.family === 4 ? 'ip' : 'ip6',
      addrMin: FIRST_REGISTER,
      ...(port === undefined ? {} : { portMin: FIRST_REGISTER + 1 }),
      ...natFlags(flags, port === undefined ? 0 : NF_NAT_RANGE.PROTO_SPECIFIED),
    });
    return;
  }
  const { family, fromMap } = target;
  context.load(fromMap.key);
  context.emit({ expr: 'lookup', sreg: FIRST_REGISTER, dreg: FIRST_REGISTER, set: fromMap.map });
  const portSlot = typeInfo(family === 'ip' ? 'ipv4_addr' : 'ipv6_addr').length / 4;
  context.emit({
    expr: 'nat',
    type: kind,
    family,
    addrMin: FIRST_REGISTER,
    ...(fromMap.withPort ? { portMin: registerAt(portSlot) } : {}),
    ...natFlags(flags),
  });
}

/** Appends a redirection to this host. */
export function compileRedirect(context: CompileContext, { port, ...flags }: Redirect): void {
  if (port === undefined) context.emit({ expr: 'redir', ...natFlags(flags) });
  else {
    loadPort(context, FIRST_REGISTER, port);
    context.emit({
      expr: 'redir',
      portMin: FIRST_REGISTER,
      ...natFlags(flags, NF_NAT_RANGE.PROTO_SPECIFIED),
    });
  }
}

/** The flags of a translation, absent when there are none. */
export function natFlags(
  { random, fullyRandom, persistent }: NatFlags,
  more = 0,
): { readonly flags?: number } {
  const flags =
    more |
    (random === true ? NF_NAT_RANGE.PROTO_RANDOM : 0) |
    (fullyRandom === true ? NF_NAT_RANGE.PROTO_RANDOM_FULLY : 0) |
    (persistent === true ? NF_NAT_RANGE.PERSISTENT : 0);
  return flags === 0 ? {} : { flags };
}

function loadPort(context: CompileContext, dreg: number, port: number): void {
  context.emit({ expr: 'immediate', dreg, data: { value: typeInfo('inet_service').encode(port) } });
}
