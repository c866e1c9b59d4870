/** Queueing disciplines, classes and filters of a namespace. */
import type { Namespace } from '../core/namespace.ts';

/** Takes away all traffic control of a link. */
export function dropTraffic(namespace: Namespace, index: number): void {
  namespace.qdiscs = namespace.qdiscs.filter((each) => each.index !== index);
  namespace.classes = namespace.classes.filter((each) => each.index !== index);
  namespace.filters = namespace.filters.filter((each) => each.index !== index);
}
