import { decode, encode } from '@heddle/wire';
import { afOf, type Family } from '../core/family.ts';
import { RTM } from '../core/rtm.ts';
import type { Rtnetlink } from '../link/rtnetlink.ts';
import { ruleMessage } from './codec.ts';
import { addRule, deleteRule, type Rule, type RuleSpec, ruleOf } from './rule.ts';

/** Which rules to list; all conditions must hold. */
export interface RuleFilter {
  readonly family?: Family | undefined;
  readonly table?: number | undefined;
  readonly priority?: number | undefined;
  /** RTPROT_* */
  readonly protocol?: number | undefined;
}

/** Policy routing of a namespace: `ip rule`. */
export class Rules {
  /** Changes to be made later, with `batch`. */
  readonly plan = { add: addRule, delete: deleteRule } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /** The rules that the filter asks for, IPv4 before IPv6, in the order in which they are tried. */
  async list(filter: RuleFilter = {}): Promise<Rule[]> {
    const { family, table, priority, protocol } = filter;
    const found: Rule[] = [];
    for (const each of family === undefined ? ([4, 6] as const) : [family]) {
      const body = encode(ruleMessage, { family: afOf(each) });
      const operation = `list IPv${each} rules`;
      const replies = await this.#kernel.client.dump({ type: RTM.GETRULE, body, operation });
      for (const reply of replies) {
        const rule = ruleOf(decode(ruleMessage, reply.body));
        if (rule?.family === each) found.push(rule);
      }
    }
    return found.filter(
      (rule) =>
        (table === undefined || rule.table === table) &&
        (priority === undefined || rule.priority === priority) &&
        (protocol === undefined || rule.protocol === protocol),
    );
  }

  /**
   * Makes a rule.
   *
   * @example await session.rules.add({ from: Prefix.parse('10.1.0.2/32'), table: 100 });
   * @throws {NetlinkError} EEXIST when there is one just like it
   */
  add(spec: RuleSpec): Promise<void> {
    return this.#kernel.apply(addRule(spec));
  }

  /**
   * Deletes the first rule that has all that `spec` says.
   *
   * @throws {NetlinkError} ENOENT when there is none
   */
  delete(spec: RuleSpec | Rule): Promise<void> {
    return this.#kernel.apply(deleteRule(spec));
  }
}
