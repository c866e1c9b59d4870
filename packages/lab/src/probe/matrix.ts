/** Who reaches whom: every place asks every other one, in every way. */
import type { Addr } from '@heddle/netaddr';
import type { NetnsHandle } from '@heddle/sys';
import { type Greeting, greetByTcp, greetByUdp } from './exchange.ts';
import { ping } from './ping.ts';

/** Where probes come from and go to: a pod, or a node itself. */
export interface Place {
  readonly name: string;
  readonly kind: 'pod' | 'node';
  /** The node that it is, or is on. */
  readonly node: string;
  readonly netns: NetnsHandle;
  readonly addresses: readonly Addr[];
}

/** The ways in which a place is asked. */
export const WAYS = ['ping', 'udp', 'tcp'] as const;
/** See {@link WAYS}. */
export type Way = (typeof WAYS)[number];

/** What one place got from another one by one family. */
export interface Reach {
  readonly from: string;
  readonly to: string;
  readonly family: 4 | 6;
  readonly address: string;
  /** The ways that did not work, and why. */
  readonly failures: Readonly<Partial<Record<Way, string>>>;
}

/** Who was asked. */
export interface Matrix {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly reaches: readonly Reach[];
}

/** How to ask. */
export interface MatrixOptions {
  /** Only from these places, or those on these nodes; from all when left out. */
  readonly from?: readonly string[] | undefined;
  /** Only to these. */
  readonly to?: readonly string[] | undefined;
  /** Whether nodes themselves are asked for too; they always ask. */
  readonly nodes?: boolean | undefined;
  /** Milliseconds until silence counts as such; 2000 by default. */
  readonly timeout?: number | undefined;
}

/** Whether every question was answered. */
export function isComplete({ reaches }: Matrix): boolean {
  return reaches.every(({ failures }) => Object.keys(failures).length === 0);
}

/** Asks all of them, a few at a time. */
export async function probeMatrix(places: readonly Place[], options: MatrixOptions = {}): Promise<Matrix> {
  const { timeout = 2000 } = options;
  const chosen = (place: Place, names: readonly string[] | undefined) =>
    names === undefined || names.includes(place.name) || names.includes(place.node);
  const from = places.filter((place) => chosen(place, options.from));
  const to = places.filter(
    (place) => chosen(place, options.to) && (place.kind === 'pod' || options.nodes === true),
  );
  const questions = from.flatMap((asker) =>
    to
      .filter((asked) => asked !== asker)
      .flatMap((asked) => asked.addresses.map((address) => ({ asker, asked, address }))),
  );
  const reaches = await inParallel(
    questions,
    AT_ONCE,
    async ({ asker, asked, address }): Promise<Reach> => ({
      ...{ from: asker.name, to: asked.name, family: address.family, address: `${address}` },
      failures: await failuresOf(asker, asked, { address, timeout }),
    }),
  );
  return { from: from.map(({ name }) => name), to: to.map(({ name }) => name), reaches };
}

const AT_ONCE = 48;

async function failuresOf(
  asker: Place,
  asked: Place,
  { address, timeout }: { readonly address: Addr; readonly timeout: number },
): Promise<Reach['failures']> {
  const [pinged, udp, tcp] = await Promise.all([
    ping(asker.netns, address, { timeout }),
    greetByUdp(asker.netns, address, timeout),
    greetByTcp(asker.netns, address, timeout),
  ]);
  const found: Record<Way, string | undefined> = {
    ping: pinged.answered ? undefined : (pinged.error ?? SILENT),
    udp: wrong(udp, asker, asked),
    tcp: wrong(tcp, asker, asked),
  };
  return Object.fromEntries(Object.entries(found).filter(([, why]) => why !== undefined));
}

const SILENT = 'no answer';

function wrong(greeting: Greeting, asker: Place, asked: Place): string | undefined {
  if (!greeting.answered) return greeting.error ?? SILENT;
  if (greeting.name !== asked.name) return `${greeting.name} answered`;
  // Only between pods no address may change on the way.
  if (asker.kind === 'node' || asked.kind === 'node') return undefined;
  const isItself = asker.addresses.some((own) => `${own}` === greeting.seenAs);
  return isItself ? undefined : `seen as ${greeting.seenAs}`;
}

async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
