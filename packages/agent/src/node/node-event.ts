/** What a node tells its agent's log. */
import type { MembershipEvent, RouterEvent } from '@heddle/routing';

/** Something that happened to the node; with a reason when it is not good. */
export interface NodeEvent {
  readonly kind: 'node';
  readonly what: string;
  readonly why?: string;
}

/** An event, with what failed where something did. */
export function nodeEvent(what: string, failure?: unknown): NodeEvent {
  if (failure === undefined) return { kind: 'node', what };
  return { kind: 'node', what, why: failure instanceof Error ? failure.message : `${failure}` };
}

/** What the cluster has to do with it. */
export function membershipEvent(event: MembershipEvent): NodeEvent {
  switch (event.kind) {
    case 'away':
      return nodeEvent('the store is away', event.reason);
    case 'refused':
      return nodeEvent('the cluster refuses this node', event.reason);
    case 'back':
      return nodeEvent('the store is back');
    case 'rejoined':
      return nodeEvent('joined the cluster again');
    case 'gone':
    case 'removed':
      return nodeEvent(`node ${event.node} is ${event.kind}`);
    case 'troubled':
      return nodeEvent(event.what, event.reason);
  }
}

/** What happened to its routes, unless it is what happens all the time. */
export function routerEvent(event: RouterEvent): NodeEvent | undefined {
  switch (event.kind) {
    case 'problem':
      return nodeEvent(event.problem.subject, event.problem.reason);
    case 'solved':
      return nodeEvent(`${event.subject} is as it should be again`);
    case 'applied':
      return event.why === 'drift' ? nodeEvent('repaired routes that somebody changed') : undefined;
  }
}
