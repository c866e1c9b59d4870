/** What GC gets: who is valid, and what is left of everybody else. */
import { type AttachmentId, attachmentKey } from '../attachment.ts';
import type { GcCall, GcOwner } from './calls.ts';
import type { Delegates } from './delegate.ts';
import type { InflightPort } from './host.ts';
import { LiveCall } from './live-calls.ts';
import { networkTag, type OwnerTag, ownerTag, tagKey } from './owner.ts';
import type { Run } from './run.ts';
import type { Sessions } from './sessions.ts';
import { Teardown } from './undo.ts';
import { readValidAttachments } from './valid-attachments.ts';

/** See the file's comment. */
export class LiveGcCall extends LiveCall implements GcCall<unknown> {
  readonly teardown = new Teardown();
  readonly #valid: Owners;
  readonly #inflight: InflightPort;

  constructor(run: Run, sessions: Sessions, delegates: Delegates) {
    super(run, sessions, delegates);
    const attachments = readValidAttachments(run.request.raw);
    this.#valid = new Owners(
      attachments.map(({ containerID, ifname }) => ({ network: this.network, containerID, ifName: ifname })),
    );
    this.#inflight = run.ports.inflight;
  }

  isValid(containerID: string, ifName: string): boolean {
    return this.#valid.has({ containerID, ifName }, this.network);
  }

  isValidTag(tag: OwnerTag): boolean {
    return tag.network !== networkTag(this.network) || this.#valid.has(tag, this.network);
  }

  async stale<T>(
    list: () => Promise<readonly T[]>,
    ownerOf: (item: T) => GcOwner | undefined,
  ): Promise<readonly T[]> {
    // The marks are read before and after: an ADD that ends while we list must not look abandoned.
    const before = this.#inflight.list();
    const items = await list();
    const busy = new Set([...before, ...this.#inflight.list()]);
    return items.filter((item) => {
      const owner = ownerOf(item);
      if (owner === undefined) return false;
      const valid = 'id' in owner ? this.isValidTag(owner) : this.#valid.has(owner, this.network);
      return !valid && !isBusy(owner, this.network, busy);
    });
  }
}

/** A set of attachments that knows them by name, by container alone and by tag. */
class Owners {
  readonly #keys: ReadonlySet<string>;
  readonly #containers: ReadonlySet<string>;
  readonly #tags: ReadonlySet<string>;

  constructor(attachments: readonly AttachmentId[]) {
    this.#keys = new Set(attachments.map(attachmentKey));
    this.#containers = new Set(attachments.map(({ network, containerID }) => `${network}/${containerID}`));
    this.#tags = new Set(attachments.map((attachment) => tagKey(ownerTag(attachment))));
  }

  has(owner: GcOwner, network: string): boolean {
    if ('id' in owner) return this.#tags.has(tagKey(owner));
    const { containerID, ifName } = owner;
    if (ifName === undefined) return this.#containers.has(`${network}/${containerID}`);
    return this.#keys.has(attachmentKey({ network, containerID, ifName }));
  }
}

/** Whether an owner's ADD is under way. Of an owner without an interface any ADD of its network may be it. */
function isBusy(owner: GcOwner, network: string, marks: ReadonlySet<string>): boolean {
  if ('id' in owner) return marks.has(tagKey(owner));
  const { containerID, ifName } = owner;
  if (ifName !== undefined) return marks.has(tagKey(ownerTag({ network, containerID, ifName })));
  return [...marks].some((mark) => mark.startsWith(`${networkTag(network)}-`));
}
