/** Classes of htb — tc_ctl_tclass in net/sched/sch_api.c, net/sched/sch_htb.c */
import { encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import { RTM } from '../../core/rtm.ts';
import { type ClassMessage, classMessage, type QdiscMessage } from '../../tc/codec.ts';
import { TC_H } from '../../tc/handle.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';

/** Makes a class, or changes the one with its handle. */
export function addClass(namespace: Namespace, wanted: ClassMessage, flags: number): undefined {
  if (!namespace.links.has(wanted.index)) refuse('ENODEV');
  const qdisc = qdiscOf(namespace, wanted);
  if (qdisc.attributes.kind !== 'htb') refuse('EOPNOTSUPP');
  const present = find(namespace, wanted);
  if (present !== undefined && (flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
  if (present === undefined && (flags & NLM_F.CREATE) === 0) refuse('ENOENT');
  const { parameters } = wanted.attributes.options?.htb ?? {};
  if (parameters === undefined || parameters.rate.rate === 0 || parameters.ceil.rate === 0) refuse('EINVAL');
  const made = {
    ...wanted,
    // Below the discipline itself is below nothing.
    parent: wanted.parent === qdisc.handle ? TC_H.ROOT : wanted.parent,
    attributes: {
      ...wanted.attributes,
      options: {
        htb: {
          ...wanted.attributes.options?.htb,
          parameters: { ...parameters, quantum: quantumOf(qdisc, parameters) },
        },
      },
    },
  };
  namespace.classes =
    present === undefined
      ? [...namespace.classes, made]
      : namespace.classes.map((each) => (each === present ? { ...made, parent: present.parent } : each));
  publish(namespace, made, RTM.NEWTCLASS);
  return undefined;
}

/** Deletes a class. */
export function deleteClass(namespace: Namespace, wanted: ClassMessage): undefined {
  if (!namespace.links.has(wanted.index)) refuse('ENODEV');
  qdiscOf(namespace, wanted);
  const found = find(namespace, wanted);
  if (found === undefined) refuse('ENOENT');
  const { index, handle } = found;
  const isUsed = namespace.classes.some((each) => each.index === index && each.parent === handle);
  if (isUsed) refuse('EBUSY', 'HTB class in use');
  namespace.classes = namespace.classes.filter((each) => each !== found);
  publish(namespace, found, RTM.DELTCLASS);
  return undefined;
}

function qdiscOf({ qdiscs }: Namespace, { index, handle, parent }: ClassMessage): QdiscMessage {
  const major = (handle === 0 ? parent : handle) >>> 16;
  return qdiscs.find((each) => each.index === index && each.handle >>> 16 === major) ?? refuse('ENOENT');
}

function find({ classes }: Namespace, { index, handle }: ClassMessage): ClassMessage | undefined {
  return classes.find((each) => each.index === index && each.handle === handle);
}

/** Without one, it is a part of the rate, within bounds. */
function quantumOf(
  { attributes: { options } }: QdiscMessage,
  { quantum, rate }: { readonly quantum: number; readonly rate: { readonly rate: number } },
): number {
  if (quantum > 0) return quantum;
  const divisor = options?.htb?.global?.rateToQuantum ?? 10;
  return Math.min(Math.max(Math.floor(rate.rate / divisor), 1000), 200_000);
}

function publish(namespace: Namespace, each: ClassMessage, type: number): void {
  namespace.notifier.publish('tc', { type, flags: 0, body: encode(classMessage, each) });
}
