/**
 * What the node is asked over its socket, and what it answers: one line of JSON each way, one question a connection.
 *
 *   {"ask":"take","from":{"network":"4:4026531840",…},"attachment":{…},"families":[4,6]}
 *   {"answer":{"addresses":[{"address":"10.244.0.5/32","pool":"pods"}],"mtu":1450,"node":"n1"}}
 *   {"error":{"code":"POOL_EXHAUSTED","message":"…","hint":"…"}}
 */
import { statSync } from 'node:fs';
import { Addr, Prefix } from '@heddle/netaddr';
import * as v from 'valibot';
import type { Given, HeldAddresses, Readiness } from './port.ts';

/** The longest question, in characters. */
export const LONGEST_QUESTION = 64 * 1024;
/** The longest answer, in characters: what ten thousand attachments hold is a tenth of it. */
export const LONGEST_ANSWER = 16 * 1024 * 1024;

const short = v.pipe(v.string(), v.minLength(1), v.maxLength(1024));
const attachment = v.object({ network: short, containerID: short, ifName: short });
const parsed = <T>(parse: (text: string) => T | undefined, what: string) =>
  v.pipe(
    v.string(),
    v.check((text) => parse(text) !== undefined, `expected ${what}`),
    v.transform((text) => parse(text) as T),
  );
const prefix = parsed(Prefix.tryParse, 'a prefix');
const given = v.object({ address: prefix, pool: v.string() });
const heldAddresses = v.object({ ...attachment.entries, addresses: v.array(given), at: v.number() });
/** The namespaces of who asks: the node serves its own network, and opens paths of its own mounts. */
const from = v.object({ network: v.string(), mounts: v.string() });

const choice = {
  families: v.exactOptional(v.pipe(v.array(v.picklist([4, 6])), v.minLength(1), v.maxLength(2))),
  pools: v.exactOptional(v.pipe(v.array(short), v.maxLength(64))),
};

/** The schema of everything that can be asked. */
export const questionSchema = v.variant('ask', [
  v.object({
    ask: v.literal('take'),
    from,
    attachment,
    ...choice,
    addresses: v.exactOptional(v.pipe(v.array(parsed(Addr.tryParse, 'an address')), v.maxLength(16))),
    podNamespace: v.exactOptional(short),
    podName: v.exactOptional(short),
    sandbox: v.exactOptional(v.object({ path: v.pipe(v.string(), v.maxLength(4096)), key: short })),
  }),
  v.object({ ask: v.literal('give'), from, attachment, at: v.exactOptional(v.number()) }),
  v.object({ ask: v.literal('held'), from, attachment }),
  v.object({ ask: v.literal('list'), from, network: short }),
  v.object({ ask: v.literal('status'), from, room: v.exactOptional(v.object(choice)) }),
]);

/** A question as it is written. */
export type Question = v.InferInput<typeof questionSchema>;
/** A question as it is read. */
export type ReadQuestion = v.InferOutput<typeof questionSchema>;

const readiness = v.variant('ready', [
  v.object({ ready: v.literal(true), node: v.string(), warnings: v.array(v.string()) }),
  v.object({ ready: v.literal(false), reason: v.string(), hint: v.exactOptional(v.string()) }),
]);

/** The schemas of the answers, by question. */
export const answerSchemas = {
  take: v.object({ addresses: v.array(given), mtu: v.number(), node: v.string() }) satisfies v.GenericSchema<
    unknown,
    Given
  >,
  give: v.null(),
  held: v.nullable(heldAddresses satisfies v.GenericSchema<unknown, HeldAddresses>),
  list: v.array(heldAddresses),
  status: readiness satisfies v.GenericSchema<unknown, Readiness>,
} as const;

/** The answer to a question. */
export type Answer<K extends Question['ask']> = v.InferOutput<(typeof answerSchemas)[K]>;

/** The schema of a refusal. */
export const refusalSchema = v.object({
  error: v.object({ code: v.string(), message: v.string(), hint: v.exactOptional(v.string()) }),
});

/** The namespaces that this process lives in, as questions say them. */
export function ownPlace(): Question['from'] {
  return { network: identityAt('/proc/self/ns/net'), mounts: identityAt('/proc/self/ns/mnt') };
}

function identityAt(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
}
