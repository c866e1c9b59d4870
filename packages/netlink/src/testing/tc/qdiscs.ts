/** Queueing disciplines — tc_modify_qdisc, tc_get_qdisc in net/sched/sch_api.c */
import { encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import { RTM } from '../../core/rtm.ts';
import { type QdiscMessage, qdiscMessage } from '../../tc/codec.ts';
import { TC_H, tcHandle } from '../../tc/handle.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, unsupported } from '../core/refusal.ts';
import { kindOfLink } from '../link/kinds.ts';

/** Makes a discipline at a place, or changes the one that is there. */
export function addQdisc(namespace: Namespace, wanted: QdiscMessage, flags: number): undefined {
  if (!namespace.links.has(wanted.index)) refuse('ENODEV');
  checkKind(wanted);
  const { handle, parent } = wanted;
  const present = at(namespace, wanted);
  const isOther = present === undefined || (handle !== 0 && present.handle !== handle);
  if (isOther) {
    if (present !== undefined && (flags & NLM_F.REPLACE) === 0)
      refuse('EEXIST', 'NLM_F_REPLACE needed to override');
    if ((handle & 0xffff) !== 0) refuse('EINVAL', 'Invalid minor handle');
    const elsewhere = namespace.qdiscs.find((each) => each.index === wanted.index && each.handle === handle);
    if (handle !== 0 && elsewhere !== undefined) {
      if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST', 'Exclusivity flag on, cannot override');
      unsupported('moving a discipline to another place');
    }
    if ((flags & NLM_F.CREATE) === 0)
      refuse('ENOENT', 'Qdisc not found. To create specify NLM_F_CREATE flag');
    if (present !== undefined) drop(namespace, present);
    put(namespace, {
      ...wanted,
      handle: handle === 0 ? freeHandle(namespace, wanted.index) : handle,
      parent,
    });
    return undefined;
  }
  if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST', 'Exclusivity flag on, cannot modify');
  if (wanted.attributes.kind !== present.attributes.kind) {
    refuse('EINVAL', 'Invalid qdisc name: must match existing qdisc');
  }
  put(namespace, { ...wanted, handle: present.handle }, present);
  return undefined;
}

/** Deletes a discipline with its classes and filters. */
export function deleteQdisc(namespace: Namespace, wanted: QdiscMessage): undefined {
  const link = namespace.links.get(wanted.index) ?? refuse('ENODEV');
  if (wanted.parent === 0) refuse('EINVAL', 'Classid cannot be zero');
  const found = at(namespace, wanted);
  if (found === undefined) {
    if (wanted.parent === TC_H.ROOT && link.wasUp)
      refuse('ENOENT', 'Cannot delete qdisc with handle of zero');
    refuse('ENOENT', 'Cannot find specified qdisc on specified device');
  }
  if (wanted.handle !== 0 && found.handle !== wanted.handle) refuse('EINVAL', 'Invalid handle');
  drop(namespace, found);
  return undefined;
}

/** All disciplines, those included that links have by themselves. */
export function listQdiscs(namespace: Namespace): QdiscMessage[] {
  return [...namespace.links.values()].flatMap((link) => {
    const own = namespace.qdiscs.filter((each) => each.index === link.index);
    if (!link.wasUp || own.some(({ parent }) => parent === TC_H.ROOT)) return own;
    const kind = kindOfLink(link).queues ? 'pfifo_fast' : 'noqueue';
    const fallback: QdiscMessage = {
      ...{ family: 0, index: link.index, handle: 0, parent: TC_H.ROOT, info: 0 },
      attributes: { kind },
    };
    return [fallback, ...own];
  });
}

function at(namespace: Namespace, { index, parent }: QdiscMessage): QdiscMessage | undefined {
  return namespace.qdiscs.find((each) => each.index === index && each.parent === parent);
}

function put(namespace: Namespace, qdisc: QdiscMessage, old?: QdiscMessage): void {
  namespace.qdiscs =
    old === undefined
      ? [...namespace.qdiscs, qdisc]
      : namespace.qdiscs.map((each) => (each === old ? qdisc : each));
  publish(namespace, qdisc, RTM.NEWQDISC);
}

function drop(namespace: Namespace, qdisc: QdiscMessage): void {
  const { index, handle } = qdisc;
  const isBelow = (each: { readonly index: number; readonly parent: number }) =>
    each.index === index && each.parent >>> 16 === handle >>> 16;
  namespace.qdiscs = namespace.qdiscs.filter(
    (each) => each !== qdisc && (each.parent === TC_H.INGRESS || !isBelow(each)),
  );
  namespace.classes = namespace.classes.filter(
    (each) => each.index !== index || each.handle >>> 16 !== handle >>> 16,
  );
  namespace.filters = namespace.filters.filter((each) => !isBelow(each));
  publish(namespace, qdisc, RTM.DELQDISC);
}

function publish(namespace: Namespace, qdisc: QdiscMessage, type: number): void {
  namespace.notifier.publish('tc', { type, flags: 0, body: encode(qdiscMessage, qdisc) });
}

function checkKind({ parent, attributes: { kind, options } }: QdiscMessage): void {
  if (kind === 'ingress' || kind === 'clsact') {
    if (parent !== TC_H.INGRESS) refuse('EOPNOTSUPP', 'Parent must be the ingress qdisc');
    return;
  }
  if (kind !== 'tbf' && kind !== 'htb') unsupported(`queueing discipline ${kind}`);
  if (parent !== TC_H.ROOT) unsupported('queueing disciplines in classes');
  if (kind === 'tbf' && options?.tbf?.parameters === undefined) refuse('EINVAL');
  if (kind === 'htb' && options?.htb?.global === undefined) refuse('EINVAL');
}

/** qdisc_alloc_handle */
function freeHandle({ qdiscs }: Namespace, index: number): number {
  for (let major = FIRST_MAJOR; ; major++) {
    const handle = tcHandle(major);
    if (!qdiscs.some((each) => each.index === index && each.handle === handle)) return handle;
  }
}

const FIRST_MAJOR = 0x8001;
