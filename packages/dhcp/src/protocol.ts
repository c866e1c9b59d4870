/**
 * What the daemon is asked, and what it answers: one line of JSON each way on a Unix socket, one question a
 * connection. Whoever hangs up takes the question back.
 *
 *   {"ask":"acquire","owner":{…},"netns":"/run/netns/x","provide":[],"parameters":[1,3]}
 *   {"answer":{"prefix":"192.0.2.5/24",…}}  or  {"error":{"code":"DHCP_NO_ANSWER","message":"no more tries"}}
 */
import * as v from 'valibot';
import { codesSchema, leaseSchema, ownerSchema, prefixSchema, rawOptionSchema } from './leases/lease-json.ts';

/** Questions are short; a longer one is none. */
export const LONGEST_QUESTION = 1 << 20;

/** What a lease is asked for with. */
const request = {
  owner: ownerSchema,
  netns: v.string(),
  provide: v.array(rawOptionSchema),
  parameters: codesSchema,
};

/** The schema of everything that the daemon can be asked. */
export const questionSchema = v.variant('ask', [
  /** Nothing: the answer shows that the daemon is there. */
  v.object({ ask: v.literal('greet') }),
  /** A lease: the one that the owner has, or a new one. */
  v.object({ ask: v.literal('acquire'), ...request }),
  /** A lease of the address that the interface has already. */
  v.object({ ask: v.literal('adopt'), ...request, prefix: prefixSchema }),
  /** What is known of an owner's lease. */
  v.object({ ask: v.literal('find'), owner: ownerSchema }),
  /** To give it back. */
  v.object({ ask: v.literal('release'), owner: ownerSchema }),
  /** What is known of all leases. */
  v.object({ ask: v.literal('list') }),
]);

/** A question as it is written. */
export type Question = v.InferInput<typeof questionSchema>;

const statusSchema = v.object({
  owner: ownerSchema,
  state: v.picklist(['bound', 'renewing', 'rebinding', 'gone', 'expired', 'refused']),
  lease: leaseSchema,
});

/** The schemas of the answers, by question. */
export const answerSchemas = {
  greet: v.literal('heddle'),
  acquire: leaseSchema,
  adopt: leaseSchema,
  find: v.nullable(statusSchema),
  /** Whether there was one. */
  release: v.boolean(),
  list: v.array(statusSchema),
} as const;

/** The answer to a question. */
export type Answer<K extends Question['ask']> = v.InferOutput<(typeof answerSchemas)[K]>;

/** The schema of a refusal. */
export const refusalSchema = v.object({ error: v.object({ code: v.string(), message: v.string() }) });

/** What a client of the reference begins with: Go's net/rpc over HTTP. */
export const GO_GREETING = 'CONNECT /_goRPC_ ';
/** What it is told. Its error then reads: `unexpected HTTP response: 501 …`. */
export const GO_REFUSAL =
  "HTTP/1.0 501 this is Heddle's DHCP daemon, which does not speak Go's RPC: use Heddle's dhcp plugin\r\n\r\n";
