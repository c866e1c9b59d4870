/**
 * Freeing addresses that are held for containers that are gone. It takes a proof: the holder is found dead twice, some
 * time apart, and once more under the lock of host-local, in the moment before its reservation is removed; and what is
 * removed is that very reservation, not a later one for the same address.
 *
 * A dead holder cannot come back to an old reservation: ADD always makes a new one. So whatever happens in between, no
 * address of a living container is freed.
 */
import { dirname } from 'node:path';
import { InflightMarks, ResultCache } from '@heddle/cni/runtime';
import { ErrorList } from '@heddle/errors';
import { fileStore } from '@heddle/ipam';
import type { KernelSession } from '@heddle/netlink';
import { livingOf, ownerlessReservations } from '../checks/pools.ts';
import { hasNetns } from '../inventory/netns.ts';
import type { NetworkReservation } from '../inventory/reservations.ts';
import { type Living, signOfLife } from '../node/liveness.ts';
import { addressesEverywhere, namespacePaths } from '../node/namespaces.ts';
import type { NodePorts } from '../node/ports.ts';
import { viewNode } from '../node/view.ts';

/** How to go about it. */
export interface FreeOptions {
  /** Only of this network. */
  readonly network?: string | undefined;
  /** Milliseconds between the two observations; ten seconds when left out. */
  readonly apart?: number;
  /** Only says what would be freed. */
  readonly dryRun?: boolean;
}

/** What came of it. */
export interface Freed {
  readonly freed: readonly NetworkReservation[];
  /** What looked leaked at first, and why it was left alone. */
  readonly spared: readonly { readonly reservation: NetworkReservation; readonly why: string }[];
}

/**
 * Frees what is leaked.
 *
 * @throws {ErrorList} IPAM_STORE, for directories that could not be changed, after all have been tried
 */
export async function freeLeaks(
  ports: NodePorts,
  host: KernelSession,
  { network, apart = APART, dryRun = false }: FreeOptions = {},
): Promise<Freed> {
  const { leaked: first, young } = ownerlessReservations(await viewNode(ports, host, { network }));
  const early = young.map((reservation) => ({ reservation, why: YOUNG }));
  if (first.length === 0) return { freed: [], spared: early };
  await ports.sleep(apart);
  const view = await viewNode(ports, host, { network });
  const { leaked: second } = ownerlessReservations(view);
  const proven = first.filter((each) => second.some((again) => isSame(each, again)));
  const spared = [
    ...early,
    ...first
      .filter((each) => !proven.includes(each))
      .map((reservation) => ({ reservation, why: 'the second look did not find it leaked any more' })),
  ];
  if (dryRun) return { freed: proven, spared };
  const { linked } = livingOf(view);
  const outcome: Freed[] = [];
  const problems: unknown[] = [];
  for (const [directory, each] of Map.groupBy(proven, ({ path }) => dirname(path))) {
    try {
      outcome.push(await freeIn(directory, each, { places: ports.places, linked }));
    } catch (error) {
      problems.push(error);
    }
  }
  ErrorList.throwIfAny('free leaked addresses', problems);
  return {
    freed: outcome.flatMap(({ freed }) => freed),
    spared: [...spared, ...outcome.flatMap((each) => each.spared)],
  };
}

const APART = 10_000;
const YOUNG = 'it is less than a minute old, and may be for a container that is just being attached';

interface Sources {
  readonly places: NodePorts['places'];
  readonly linked: Living['linked'];
}

/** Whoever wants to reserve or release waits meanwhile: nothing here waits for anything. */
async function freeIn(
  directory: string,
  proven: readonly NetworkReservation[],
  { places, linked }: Sources,
): Promise<Freed> {
  const store = fileStore({ directory });
  return await store.exclusive(
    (ledger) => {
      const freed: NetworkReservation[] = [];
      const spared: Freed['spared'][number][] = [];
      const cached = new ResultCache(places.cacheDir).attachments();
      const addresses = addressesEverywhere(namespacePaths(cached.flatMap(({ netns }) => netns ?? [])));
      const adding = new InflightMarks(places.markDir).list();
      const living: Living = { cached, linked, hasNetns, adding, addresses };
      const present = new Map(ledger.list().map((each) => [String(each.addr), each]));
      for (const reservation of proven) {
        const now = present.get(reservation.addr);
        const sign =
          now?.createdAt !== reservation.createdAt || now.owner?.containerID !== reservation.containerID
            ? 'it was released, or taken anew, meanwhile'
            : signOfLife(reservation, living);
        if (now === undefined || sign !== undefined) spared.push({ reservation, why: sign ?? '' });
        else if (ledger.release(now.addr)) freed.push(reservation);
      }
      return { freed, spared };
    },
    { create: false },
  );
}

function isSame(a: NetworkReservation, b: NetworkReservation): boolean {
  return a.path === b.path && a.createdAt === b.createdAt && a.containerID === b.containerID;
}
