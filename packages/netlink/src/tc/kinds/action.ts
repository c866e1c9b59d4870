/** TCA_ACT_*, TCA_MIRRED_*, TCA_GACT_* — linux/pkt_cls.h, linux/tc_act/*.h */
import {
  attr,
  attrs,
  choice,
  cstring,
  type Input,
  i32,
  indexed,
  oneOf,
  struct,
  u32,
  type Value,
} from '@heddle/wire';

/** TC_ACT_*: what happens to the packet afterwards. */
const verdict = oneOf(i32, { unspec: -1, ok: 0, reclassify: 1, shot: 2, pipe: 3, stolen: 4, queued: 5 });

const general = { index: u32, capab: u32, verdict, references: i32, bindings: i32 } as const;

/** struct tc_mirred */
const mirredParameters = struct('tc_mirred', {
  ...general,
  how: oneOf(i32, { 'egress-redirect': 1, 'egress-mirror': 2, 'ingress-redirect': 3, 'ingress-mirror': 4 }),
  ifindex: u32,
});

const mirred = attrs('TCA_MIRRED', { parameters: attr(2, mirredParameters) });
const gact = attrs('TCA_GACT', { parameters: attr(2, struct('tc_gact', general)) });

/** The actions of a filter. */
export const actions = indexed(
  attrs('TCA_ACT', { kind: attr(1, cstring), options: choice(2, 'kind', { mirred, gact }) }),
);

/** What happens to a packet after an action. */
export type ActionVerdict = 'unspec' | 'ok' | 'reclassify' | 'shot' | 'pipe' | 'stolen' | 'queued' | number;

/** What is done with a packet that a filter matches. */
export type Action =
  | {
      /** Sends it, or a copy of it, to another link. */
      readonly kind: 'mirred';
      readonly how: 'egress-redirect' | 'egress-mirror' | 'ingress-redirect' | 'ingress-mirror' | number;
      /** Index of the other link. */
      readonly link: number;
      /** `stolen` for a redirection, `pipe` for a copy, when left out. */
      readonly verdict?: ActionVerdict | undefined;
    }
  | { readonly kind: 'gact'; readonly verdict: ActionVerdict }
  | {
      /** Any other, with its options as they are in messages. */
      readonly kind: 'raw';
      readonly name: string;
      readonly options: Uint8Array;
    };

/** Actions from their attributes. */
export function actionsOf(raw: Value<typeof actions>): Action[] {
  return raw.map(({ kind = '', options }) => {
    const to = options?.mirred?.parameters;
    if (to !== undefined) return { kind: 'mirred', how: to.how, link: to.ifindex, verdict: to.verdict };
    const plain = options?.gact?.parameters;
    if (plain !== undefined) return { kind: 'gact', verdict: plain.verdict };
    return { kind: 'raw', name: kind, options: options?.raw ?? new Uint8Array() };
  });
}

/** The attributes of actions. */
export function actionAttributes(list: readonly Action[]): Input<typeof actions> {
  return list.map(attributesOf);
}

function attributesOf(action: Action): Input<typeof actions>[number] {
  switch (action.kind) {
    case 'mirred': {
      const { how, link, verdict = `${how}`.endsWith('mirror') ? 'pipe' : 'stolen' } = action;
      return { kind: 'mirred', options: { mirred: { parameters: { how, ifindex: link, verdict } } } };
    }
    case 'gact':
      return { kind: 'gact', options: { gact: { parameters: { verdict: action.verdict } } } };
    case 'raw':
      return { kind: action.name, options: { raw: action.options } };
  }
}
