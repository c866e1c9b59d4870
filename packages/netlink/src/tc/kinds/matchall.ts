/** TCA_MATCHALL_* — linux/pkt_cls.h; filter "matchall" */
import { attr, attrs, type Input, u32, type Value } from '@heddle/wire';
import { type Action, actionAttributes, actions, actionsOf } from './action.ts';

/** Attributes of a filter that matches every packet. */
export const matchall = attrs('TCA_MATCHALL', { classId: attr(1, u32), actions: attr(2, actions) });

/** A filter that matches every packet. */
export interface Matchall {
  /** The class that packets go to. */
  readonly classId?: number | undefined;
  readonly actions?: readonly Action[] | undefined;
}

/** The filter from its attributes. */
export function matchallOf({ classId, actions }: Value<typeof matchall>): Matchall {
  return { ...(classId !== undefined && { classId }), actions: actionsOf(actions ?? []) };
}

/** The attributes of the filter. */
export function matchallAttributes({ classId, actions }: Matchall): Input<typeof matchall> {
  return { classId, actions: actions && actionAttributes(actions) };
}
