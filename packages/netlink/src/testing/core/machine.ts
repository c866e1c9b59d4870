import type { Namespace } from './namespace.ts';

/** What the namespaces of one fake kernel share. */
export interface Machine {
  /** All namespaces, in the order of their making. */
  readonly namespaces: ReadonlyMap<string, Namespace>;
  /** Kinds of links that this kernel was built without. */
  readonly missingKinds: ReadonlySet<string>;
  /** The namespace of an open handle. */
  byDescriptor(number: number): Namespace | undefined;
  /** An address for a link that is made without one. */
  nextMac(): Uint8Array;
  /** Has something done when the caller is through, as the kernel's work queues do. */
  later(task: () => void): void;
}
