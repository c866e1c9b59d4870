/** A container of the lab: a namespace, its identity, and what is known about its attachment. */
import type { JsonObject, Result } from '@heddle/cni';
import type { Namespace } from './namespace.ts';

/** See the file's comment. */
export class Container implements Disposable {
  /** Which container of its node it is; from 1. */
  readonly n: number;
  readonly id: string;
  /** The interface's name in calls about it. */
  readonly ifName: string;
  readonly namespace: Namespace;
  /** What an earlier plugin of the chain has returned, in the newest form. */
  readonly upstream: Result | undefined;
  /** What ADD has returned, as it was. */
  result: JsonObject | undefined;

  constructor(facts: Pick<Container, 'n' | 'id' | 'ifName' | 'namespace' | 'upstream'>) {
    this.n = facts.n;
    this.id = facts.id;
    this.ifName = facts.ifName;
    this.namespace = facts.namespace;
    this.upstream = facts.upstream;
  }

  /** The same container with another interface. */
  withInterface(ifName: string): Container {
    return new Container({
      n: this.n,
      id: this.id,
      ifName,
      namespace: this.namespace,
      upstream: this.upstream,
    });
  }

  /** What CNI_NETNS says. */
  get netns(): string {
    return this.namespace.path;
  }

  /** Whether it has not ended. */
  get isAlive(): boolean {
    return this.namespace.isAlive;
  }

  [Symbol.dispose](): void {
    this.namespace[Symbol.dispose]();
  }
}
