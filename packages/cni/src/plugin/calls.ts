/** What a plugin's verbs are handed: one interface per verb, over what they share. */
import type { KernelSession } from '@heddle/netlink';
import type { NetnsHandle } from '@heddle/sys';
import type { AttachmentId } from '../attachment.ts';
import type { Command } from '../environment.ts';
import type { JsonObject } from '../json-value.ts';
import type { Result } from '../result.ts';
import type { Clock, Random } from './host.ts';
import type { OwnerTag } from './owner.ts';
import type { Teardown, UndoStack } from './undo.ts';

/** What every verb gets. */
export interface BaseCall<C> {
  readonly command: Command;
  /** The network's name. */
  readonly network: string;
  /** The version in which the configuration is written and the result will be. */
  readonly cniVersion: string;
  /** The plugin's configuration, validated by its schema. */
  readonly config: C;
  /** The whole configuration as it came. */
  readonly raw: JsonObject;
  /** The bytes of the configuration, as a delegate gets them. */
  readonly stdin: Uint8Array;
  /** The directories of CNI_PATH. */
  readonly path: readonly string[];
  /** The kernel as seen from the plugin's own namespace; opened on first use. */
  readonly host: KernelSession;
  /** The address management plugin that the configuration names. */
  readonly ipam: IpamDelegate;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Another plugin, which does this one's work with a configuration made for it. Its `type` names the plugin,
   * which is found on CNI_PATH and gets this call's environment.
   *
   * @example const result = await call.delegate({ ...call.raw, type: 'bridge' }).add();
   */
  delegate(config: JsonObject): Delegate;
  /** Opens the kernel as seen from another namespace than these two; the caller disposes of both. */
  openSession(netns: NetnsHandle): KernelSession;
  /** Tells the operator something on stderr, on a line of its own. */
  warn(message: string): void;
}

/** A verb about one attachment. */
export interface AttachmentCall<C> extends BaseCall<C> {
  readonly attachment: AttachmentId;
  readonly containerID: string;
  readonly ifName: string;
  /** CNI_NETNS as it is; results name it as `sandbox`. */
  readonly netnsPath: string;
  /** CNI_ARGS as it is. */
  readonly cniArgs: string;
  /** The keys of CNI_ARGS that the plugin declared in `argKeys`. */
  readonly args: Readonly<Record<string, string | undefined>>;
  /** What the chain has made so far (ADD), or in all (CHECK, DEL). */
  readonly prevResult?: Result;
}

/** ADD: set the attachment up. */
export interface AddCall<C> extends AttachmentCall<C> {
  /** The container's namespace. */
  readonly netns: NetnsHandle;
  /** The kernel as seen from the container; opened on first use. */
  readonly container: KernelSession;
  readonly undo: UndoStack;
}

/** CHECK: find out whether the attachment is as ADD left it. */
export interface CheckCall<C> extends AttachmentCall<C> {
  readonly netns: NetnsHandle;
  readonly container: KernelSession;
}

/** DEL: take the attachment down, whatever is left of it. */
export interface DelCall<C> extends AttachmentCall<C> {
  /** The container's namespace, or `undefined` when it is gone. */
  readonly container: KernelSession | undefined;
  readonly teardown: Teardown;
}

/** GC: take down what belongs to attachments of this network that are no longer valid. */
export interface GcCall<C> extends BaseCall<C> {
  readonly teardown: Teardown;
  /** True for an attachment that the runtime declared valid. */
  isValid(containerID: string, ifName: string): boolean;
  /** The same for an owner of whom only the tag is known. Another network's owners are always valid. */
  isValidTag(tag: OwnerTag): boolean;
  /**
   * Lists what to take down: what exists now, less what is valid, less what belongs to an attachment whose
   * ADD is under way. Call it before any change.
   *
   * @param list reads what exists
   * @param ownerOf says whose an item is; `undefined` for nobody's of this network
   */
  stale<T>(
    list: () => Promise<readonly T[]>,
    ownerOf: (item: T) => GcOwner | undefined,
  ): Promise<readonly T[]>;
}

/** An owner as garbage collection meets it. Old reservations do not tell the interface. */
export type GcOwner = OwnerTag | { readonly containerID: string; readonly ifName?: string };

/** STATUS: find out whether ADD would work. */
export type StatusCall<C> = BaseCall<C>;

/** Another plugin, run as the specification asks. */
export interface Delegate {
  /** Its `type`, or '' when the configuration names none. */
  readonly type: string;
  /**
   * Runs its ADD. Its DEL is registered as undo beforehand, for a failed ADD may have left something too; but not
   * when it was refused for what an earlier ADD of the attachment holds, which is in use.
   *
   * @returns its result in the newest form
   * @throws {CniError} its own error
   */
  add(): Promise<Result>;
  del(): Promise<void>;
  check(): Promise<void>;
  gc(): Promise<void>;
  status(): Promise<void>;
}

/** The address management plugin of a configuration. Its ADD fails with code 7 when it gives no address. */
export type IpamDelegate = Delegate;
