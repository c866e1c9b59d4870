/** An address management plugin for tests: it gives what it is told to, fails when it is told to, and keeps count. */
import {
  type AttachmentId,
  attachmentKey,
  CNI_CODE,
  CniError,
  CURRENT_VERSION,
  type Result,
} from '@heddle/cni';
import { definePlugin, type Plugin } from '@heddle/cni/plugin';
import * as v from 'valibot';

/** What a {@link StubIpam} gives: one answer for everybody, or one for each attachment. */
export type StubAnswer = Partial<Result> | ((attachment: AttachmentId) => Partial<Result>);

/** See the file's comment. Its type is `stub`. */
export class StubIpam {
  /** Who holds addresses, as `attachmentKey` writes it. */
  readonly held = new Set<string>();
  /** The commands that it was given, in order. */
  readonly commands: string[] = [];
  /** The commands that are to fail; a failing ADD has reserved by then. */
  readonly failing = new Set<string>();
  answer: StubAnswer;

  constructor(answer: StubAnswer = {}) {
    this.answer = answer;
  }

  /** The plugin that this stub is behind. */
  get plugin(): Plugin {
    return definePlugin({
      type: 'stub',
      kind: 'ipam',
      about: 'gives addresses in tests',
      config: v.object({}),
      add: async ({ attachment }) => {
        this.held.add(attachmentKey(attachment));
        this.#run('ADD');
        const given = typeof this.answer === 'function' ? this.answer(attachment) : this.answer;
        return { cniVersion: CURRENT_VERSION, ...given };
      },
      del: async ({ attachment }) => {
        this.#run('DEL');
        this.held.delete(attachmentKey(attachment));
      },
      check: async ({ attachment }) => {
        this.#run('CHECK');
        if (this.held.has(attachmentKey(attachment))) return;
        throw new CniError(CNI_CODE.DRIFT, `stub: ${attachmentKey(attachment)} holds no address`);
      },
      gc: async (call) => {
        this.#run('GC');
        for (const key of this.held) {
          const [net = '', containerID = '', ifName = ''] = key.split('/');
          if (net === call.network && !call.isValid(containerID, ifName)) this.held.delete(key);
        }
      },
      status: async () => this.#run('STATUS'),
    });
  }

  #run(command: string): void {
    this.commands.push(command);
    if (this.failing.has(command)) throw new CniError(CNI_CODE.IPAM, `stub: ${command} fails as told`);
  }
}
