/** Filters of disciplines — tc_new_tfilter, tc_del_tfilter in net/sched/cls_api.c, net/sched/cls_u32.c */
import { encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import { RTM } from '../../core/rtm.ts';
import { type FilterMessage, filterMessage, type QdiscMessage } from '../../tc/codec.ts';
import { TC_H, tcHandle } from '../../tc/handle.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, unsupported } from '../core/refusal.ts';

/** Makes a filter. */
export function addFilter(namespace: Namespace, wanted: FilterMessage, flags: number): undefined {
  if (!namespace.links.has(wanted.index)) refuse('ENODEV');
  const place = placeOf(namespace, wanted);
  const { kind, options } = wanted.attributes;
  if (kind !== 'u32' && kind !== 'matchall') unsupported(`filter ${kind}`);
  if (kind === 'u32' && options?.u32?.selector === undefined) refuse('EINVAL');
  const present = filtersAt(namespace, wanted.index, place);
  const priority = priorityOf(wanted) === 0 ? freePriority(present) : priorityOf(wanted);
  const protocol = wanted.info & 0xffff;
  if (protocol === 0) refuse('EINVAL', 'Filter with specified priority/protocol not found');
  const kin = present.filter((each) => priorityOf(each) === priority);
  for (const each of kin) {
    if (each.attributes.kind !== kind) refuse('EINVAL', 'Specified filter kind does not match existing one');
    if ((each.info & 0xffff) !== protocol)
      refuse('EINVAL', 'Filter with specified priority/protocol not found');
  }
  const handle = wanted.handle === 0 ? freeHandle(kind, present) : wanted.handle;
  const same = kin.find((each) => each.handle === handle || kind === 'matchall');
  if (same !== undefined) {
    if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST', 'Filter already exists');
    unsupported('changing a filter');
  }
  if ((flags & NLM_F.CREATE) === 0)
    refuse('ENOENT', 'Need both RTM_NEWTFILTER and NLM_F_CREATE to create a new filter');
  const info = ((priority << 16) | protocol) >>> 0;
  const made: FilterMessage = {
    ...wanted,
    handle,
    parent: place,
    info,
    attributes: bound(namespace, wanted),
  };
  namespace.filters = [...namespace.filters, made];
  publish(namespace, made, RTM.NEWTFILTER);
  return undefined;
}

/** Deletes one filter, those of a priority, or all at a place. */
export function deleteFilters(namespace: Namespace, wanted: FilterMessage): undefined {
  if (!namespace.links.has(wanted.index)) refuse('ENODEV');
  const place = placeOf(namespace, wanted);
  const present = filtersAt(namespace, wanted.index, place);
  const priority = priorityOf(wanted);
  if (priority !== 0 && present.length === 0) refuse('ENOENT', 'Cannot find specified filter chain.');
  const protocol = wanted.info & 0xffff;
  const chosen = present.filter(
    (each) =>
      (priority === 0 || priorityOf(each) === priority) &&
      (protocol === 0 || (each.info & 0xffff) === protocol),
  );
  if (priority !== 0 && chosen.length === 0)
    refuse('ENOENT', 'Filter with specified priority/protocol not found');
  const { kind } = wanted.attributes;
  if (kind !== undefined && chosen.some((each) => each.attributes.kind !== kind)) {
    refuse('EINVAL', 'Specified filter kind does not match existing one');
  }
  const gone = chosen.filter((each) => wanted.handle === 0 || each.handle === wanted.handle);
  if (wanted.handle !== 0 && gone.length === 0) refuse('ENOENT', 'Specified filter handle not found');
  namespace.filters = namespace.filters.filter((each) => !gone.includes(each));
  for (const each of gone) publish(namespace, each, RTM.DELTFILTER);
  return undefined;
}

/** The filters at a place by their priority, and for u32 the hash table that they are in. */
export function describeFilters(namespace: Namespace, { index, parent }: FilterMessage): FilterMessage[] {
  const place = parent === 0 ? rootOf(namespace, index)?.handle : parent;
  if (place === undefined) return [];
  const listed: FilterMessage[] = [];
  for (const each of filtersAt(namespace, index, sameSide(namespace, index, place))) {
    if (each.attributes.kind === 'u32' && !listed.some((other) => other.info === each.info)) {
      const base = { ...each, handle: 0, attributes: { kind: 'u32', chain: 0 } };
      const table = {
        ...base,
        handle: U32_TABLE,
        attributes: { ...base.attributes, options: { u32: { divisor: 1 } } },
      };
      listed.push(base, table);
    }
    listed.push(each);
  }
  return listed;
}

/** The hash table that u32 puts filters into: 800: */
const U32_TABLE = 0x8000_0000;
const FIRST_PRIORITY = 0xc000;

function filtersAt({ filters }: Namespace, index: number, place: number): FilterMessage[] {
  return filters
    .filter((each) => each.index === index && each.parent === place)
    .toSorted((a, b) => priorityOf(a) - priorityOf(b));
}

function priorityOf({ info }: FilterMessage): number {
  return info >>> 16;
}

/** tcf_auto_prio: in front of all others. */
function freePriority(present: readonly FilterMessage[]): number {
  const [first] = present;
  return first === undefined ? FIRST_PRIORITY : priorityOf(first) - 1;
}

function freeHandle(kind: string, present: readonly FilterMessage[]): number {
  if (kind === 'matchall') return 1;
  const taken = present.map(({ handle }) => handle & 0xfff);
  return (U32_TABLE | (Math.max(0x7ff, ...taken) + 1)) >>> 0;
}

/** Actions get a number of their own and a user. */
function bound(namespace: Namespace, { attributes }: FilterMessage): FilterMessage['attributes'] {
  const { options } = attributes;
  const number = namespace.filters.length + 1;
  const u32 = options?.u32;
  if (u32 !== undefined) {
    return {
      ...attributes,
      chain: 0,
      options: {
        u32: {
          ...u32,
          ...(u32.actions && { actions: u32.actions.map((each) => boundAction(namespace, each, number)) }),
        },
      },
    };
  }
  const matchall = options?.matchall ?? {};
  const { actions } = matchall;
  return {
    ...attributes,
    chain: 0,
    options: {
      matchall: {
        ...matchall,
        ...(actions && { actions: actions.map((each) => boundAction(namespace, each, number)) }),
      },
    },
  };
}

type Action = NonNullable<
  NonNullable<NonNullable<FilterMessage['attributes']['options']>['matchall']>['actions']
>[number];

function boundAction(namespace: Namespace, action: Action, index: number): Action {
  const { mirred, gact } = action.options ?? {};
  const use = { index, references: 1, bindings: 1 };
  if (mirred?.parameters !== undefined) {
    if (!namespace.links.has(mirred.parameters.ifindex)) refuse('ENODEV', 'Specified device does not exist');
    return { ...action, options: { mirred: { parameters: { ...mirred.parameters, ...use } } } };
  }
  if (gact?.parameters !== undefined) {
    return { ...action, options: { gact: { parameters: { ...gact.parameters, ...use } } } };
  }
  unsupported(`action ${action.kind}`);
}

/** Where filters of a request go: a discipline that takes them, or a side of clsact. */
function placeOf(namespace: Namespace, { index, parent }: FilterMessage): number {
  const place = parent === 0 ? rootOf(namespace, index)?.handle : parent;
  const qdisc = namespace.qdiscs.find(
    (each) => each.index === index && each.handle >>> 16 === (place ?? 0) >>> 16,
  );
  if (place === undefined || qdisc === undefined) refuse('EINVAL', "Parent Qdisc doesn't exists");
  const { kind } = qdisc.attributes;
  if (kind === 'tbf') refuse('EOPNOTSUPP', "Class doesn't support blocks");
  if (kind === 'clsact' && place === tcHandle(0xffff)) return TC_H.MIN_INGRESS;
  return sameSide(namespace, index, place);
}

/** `ingress` has one place, whichever of its names is given. */
function sameSide(namespace: Namespace, index: number, place: number): number {
  const ingress = namespace.qdiscs.find((each) => each.index === index && each.parent === TC_H.INGRESS);
  return ingress?.attributes.kind === 'ingress' && place === TC_H.MIN_INGRESS ? tcHandle(0xffff) : place;
}

function rootOf({ qdiscs }: Namespace, index: number): QdiscMessage | undefined {
  return qdiscs.find((each) => each.index === index && each.parent === TC_H.ROOT);
}

function publish(namespace: Namespace, each: FilterMessage, type: number): void {
  namespace.notifier.publish('tc', { type, flags: 0, body: encode(filterMessage, each) });
}
