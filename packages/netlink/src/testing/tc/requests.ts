/** Queueing disciplines, classes and filters by their messages — net/sched/sch_api.c, net/sched/cls_api.c */
import { decode, encode } from '@heddle/wire';
import type { Reply } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import { classMessage, filterMessage, qdiscMessage } from '../../tc/codec.ts';
import type { Handlers } from '../core/handler.ts';
import { refuseUnknown } from '../core/refusal.ts';
import { addClass, deleteClass } from './classes.ts';
import { addFilter, deleteFilters, describeFilters } from './filters.ts';
import { addQdisc, deleteQdisc, listQdiscs } from './qdiscs.ts';

/** What traffic control does. */
export const trafficHandlers: readonly (readonly [number, Handlers])[] = [
  [RTM.NEWQDISC, { change: (namespace, { flags, body }) => addQdisc(namespace, readQdisc(body), flags) }],
  [RTM.DELQDISC, { change: (namespace, { body }) => deleteQdisc(namespace, readQdisc(body)) }],
  [
    RTM.GETQDISC,
    {
      dump: (namespace) =>
        listQdiscs(namespace).map((qdisc) => reply(RTM.NEWQDISC, encode(qdiscMessage, qdisc))),
    },
  ],
  [RTM.NEWTCLASS, { change: (namespace, { flags, body }) => addClass(namespace, readClass(body), flags) }],
  [RTM.DELTCLASS, { change: (namespace, { body }) => deleteClass(namespace, readClass(body)) }],
  [
    RTM.GETTCLASS,
    {
      dump: (namespace, { body }) => {
        const { index } = readClass(body);
        const found = namespace.classes.filter((each) => each.index === index);
        return found.map((each) => reply(RTM.NEWTCLASS, encode(classMessage, each)));
      },
    },
  ],
  [RTM.NEWTFILTER, { change: (namespace, { flags, body }) => addFilter(namespace, readFilter(body), flags) }],
  [RTM.DELTFILTER, { change: (namespace, { body }) => deleteFilters(namespace, readFilter(body)) }],
  [
    RTM.GETTFILTER,
    {
      dump: (namespace, { body }) =>
        describeFilters(namespace, readFilter(body)).map((each) =>
          reply(RTM.NEWTFILTER, encode(filterMessage, each)),
        ),
    },
  ],
];

function reply(type: number, body: Uint8Array): Reply {
  return { type, flags: 0, body };
}

function readQdisc(body: Uint8Array) {
  const message = decode(qdiscMessage, body);
  refuseUnknown('TCA', message);
  return message;
}

function readClass(body: Uint8Array) {
  const message = decode(classMessage, body);
  refuseUnknown('TCA', message);
  return message;
}

function readFilter(body: Uint8Array) {
  const message = decode(filterMessage, body);
  refuseUnknown('TCA', message);
  return message;
}
