/** The plugin under test: what it is, and with which configuration it is called. */
import { CNI_VERSIONS, compareVersions, isJsonObject, type JsonObject } from '@heddle/cni';
import type { Kind } from '../check.ts';
import { STUB_IPAM } from '../lab/stub-ipam.ts';
import type { Setup } from './well-known.ts';

/** See the file's comment. */
export class Subject {
  /** The program's file. */
  readonly program: string;
  /** Its name: the `type` of configurations. */
  readonly type: string;
  readonly kind: Kind;
  readonly setup: Setup;
  /** What it says about itself. */
  readonly versions: readonly string[];

  constructor(facts: Pick<Subject, 'program' | 'type' | 'kind' | 'setup' | 'versions'>) {
    this.program = facts.program;
    this.type = facts.type;
    this.kind = facts.kind;
    this.setup = facts.setup;
    this.versions = facts.versions;
  }

  /** The newest version that both it and the kit know. */
  get version(): string {
    const known = CNI_VERSIONS.filter((version) => this.versions.includes(version));
    return known.at(-1) ?? '0.1.0';
  }

  /** Whether it speaks a version or a later one. */
  readonly speaks = (version: string): boolean => compareVersions(this.version, version) >= 0;

  /** The interface's name in ordinary calls. */
  get ifName(): string {
    return this.setup.ifName ?? 'eth0';
  }

  /** Whether it makes the interface; loopback's is always there. */
  get makesInterface(): boolean {
    return this.kind === 'interface' && this.setup.ifName === undefined;
  }

  /** Whether it gets addresses from the kit's IPAM plugin. */
  get delegates(): boolean {
    const { ipam } = this.setup.config(0);
    return this.kind !== 'ipam' && isJsonObject(ipam) && ipam['type'] === STUB_IPAM;
  }

  /** Whether every attachment gets addresses of its own. */
  get allocates(): boolean {
    return this.setup.allocates ?? (this.kind === 'ipam' || this.delegates);
  }

  /** Its object of a network list, for the n-th container. */
  object(n: number): JsonObject {
    return this.setup.config(n);
  }
}
