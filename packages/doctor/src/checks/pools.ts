/** Addresses: how full the pools are, and whether those who hold addresses and those who use them are the same. */
import { parseOwnerAlias } from '@heddle/cni/plugin';
import { InflightMarks } from '@heddle/cni/runtime';
import { formatRangeSet, type RangeSet, rangeOf, resolveRange } from '@heddle/ipam';
import { Prefix } from '@heddle/netaddr';
import type { Finding } from '../finding.ts';
import { hasNetns } from '../inventory/netns.ts';
import type { NetworkReservation } from '../inventory/reservations.ts';
import { type Living, signOfLife } from '../node/liveness.ts';
import { addressesEverywhere, namespacePaths } from '../node/namespaces.ts';
import { nameOf, promisedAddresses } from '../node/pods.ts';
import { type Pool, poolsOf } from '../node/pools.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { count, doctorRule, type NodeCheck, some } from './check.ts';

const exhausted = doctorRule({
  id: 'pool/exhausted',
  severity: 'error',
  title: 'A pool of addresses is used up',
  explains:
    'host-local gives addresses out of the ranges of a network; when all are held, every further container fails. Reservations that nobody needs any more are counted apart, for they are often the cause.',
});

const low = doctorRule({
  id: 'pool/low',
  severity: 'warning',
  title: 'A pool of addresses is nearly used up',
  explains:
    'Less than a tenth of the range is free. From the reservations of the last hour it is estimated when the pool is used up if it goes on like that.',
});

const leaked = doctorRule({
  id: 'pool/leaked',
  severity: 'warning',
  title: 'Addresses are held for containers that are gone',
  explains:
    'A reservation outlives its container when DEL never came: after a reboot, a killed runtime, a lost cache. It counts as leaked when the address is in no namespace of the node, no link belongs to its holder, and the runtime does not know the holder or its namespace is gone; and only when it is older than a minute, so that nothing that is just being attached is meant. `--fix` looks twice, checks each again under the lock, and frees those.',
  fixable: true,
});

const unreserved = doctorRule({
  id: 'pool/unreserved',
  severity: 'error',
  title: 'A container uses an address that nobody holds for it',
  explains:
    'The runtime remembers the address of an attachment, its namespace has it, and there is no reservation: somebody removed it. host-local will give the address to the next container, and both will have it.',
});

/** See the file's comment. */
export const poolsCheck: NodeCheck = {
  rules: [exhausted, unreserved, leaked, low],
  look(view) {
    const pools = poolsOf({
      lists: view.networks.networks.map(({ list }) => list),
      reservations: view.reservations,
      reservationDir: view.ports.places.reservationDir,
    });
    const { leaked: gone, young } = ownerlessReservations(view);
    return [
      ...pools.flatMap((pool) => fill(view, pool, { gone, young })),
      ...leaks(gone),
      ...pools.flatMap((pool) => unheld(view, pool)),
    ];
  },
};

/** Reservations of whose holders there is no sign of life. */
export interface Ownerless {
  /** The holders are proven to be gone. */
  readonly leaked: readonly NetworkReservation[];
  /** It is too early to say: they may be for containers that are just being attached. */
  readonly young: readonly NetworkReservation[];
}

/** See {@link Ownerless}. */
export function ownerlessReservations(view: NodeView): Ownerless {
  const shown = new Set(view.attachments.map(({ network }) => network));
  const candidates = view.reservations.filter(({ network }) => shown.has(network));
  if (candidates.length === 0) return { leaked: [], young: [] };
  const living = livingOf(view);
  const ownerless = candidates.filter((each) => signOfLife(each, living) === undefined);
  const isOld = ({ createdAt }: NetworkReservation) => createdAt < view.ports.now() - GRACE;
  return { leaked: ownerless.filter(isOld), young: ownerless.filter((each) => !isOld(each)) };
}

/** Who lives on the node. */
export function livingOf({ cached, links, ports }: Pick<NodeView, 'cached' | 'links' | 'ports'>): Living {
  const paths = namespacePaths(cached.flatMap(({ netns }) => netns ?? []));
  return {
    ...{ cached, hasNetns, addresses: addressesEverywhere(paths) },
    adding: new InflightMarks(ports.places.markDir).list(),
    linked: links.flatMap(({ alias }) => parseOwnerAlias(alias) ?? []),
  };
}

/** Somebody who is just being attached has an address before anything else knows. */
const GRACE = 60_000;

interface Doubtful {
  readonly gone: readonly NetworkReservation[];
  readonly young: readonly NetworkReservation[];
}

function fill(view: NodeView, pool: Pool, { gone, young }: Doubtful): readonly Finding[] {
  return pool.sets.flatMap((set, index): readonly Finding[] => {
    const { size = 0n, used = 0n, free = 0n } = pool.usage[index] ?? {};
    const isLow = free * 10n < size;
    if (free > 0n && !isLow) return [];
    const isOwn = ({ path }: NetworkReservation) => path.startsWith(`${pool.directory}/`);
    const [ownGone, ownYoung] = [gone.filter(isOwn).length, young.filter(isOwn).length];
    const rate = pool.held.filter(({ createdAt }) => createdAt > view.ports.now() - HOUR).length;
    const hours = rate === 0 ? undefined : Number(free) / rate;
    const evidence = [
      `range ${formatRangeSet(set)}: ${used} of ${size} held`,
      `${count(pool.held.length, 'reservation')} in ${pool.directory}, ${ownGone} of them for containers that are gone`,
      ...(ownYoung > 0
        ? [
            `${ownYoung} without a container are less than a minute old: look again in a minute, when they count as leaked`,
          ]
        : []),
      ...(hours === undefined || free === 0n
        ? []
        : [`${rate} in the last hour: used up in about ${inWords(hours)}`]),
    ];
    const remedy =
      ownGone > 0
        ? `free the ${ownGone} that are leaked; if that is not enough, ${enlarging(pool, set)}`
        : enlarging(pool, set);
    const about = {
      ...(pool.file !== undefined && { place: { file: pool.file } }),
      subject: `network ${pool.network}`,
      evidence,
      remedy,
      ...(ownGone > 0 && { commands: ['heddle doctor --fix'] }),
    };
    if (free === 0n) {
      return [
        found(exhausted, {
          ...about,
          what: `all ${size} addresses of ${pool.network} are held`,
          consequence: 'Every further container fails: "no IP addresses available in range set".',
        }),
      ];
    }
    return [
      found(low, {
        ...about,
        what: `${free} of ${size} addresses of ${pool.network} are free`,
        consequence: 'When they are used up, no further container can be attached.',
      }),
    ];
  });
}

/** What to write, so that a range set has more addresses. */
function enlarging({ file }: Pool, set: RangeSet): string {
  const [{ subnet, addresses }] = set;
  const where = file === undefined ? '' : ` in ${file}`;
  const usable = resolveRange({ subnet }).addresses;
  if (set.length > 1 || addresses.size < usable.size) {
    return `widen the range ${formatRangeSet(set)}${where}: more of ${subnet} by "rangeStart" and "rangeEnd", or a larger subnet`;
  }
  const larger = Prefix.of(subnet.addr, Math.max(subnet.bits - 2, 1)).masked();
  return `write a larger subnet in place of ${subnet}${where}, such as ${larger} if nobody else has it; a bridge keeps its old address until it is taken away: look again after the next container`;
}

function leaks(gone: readonly NetworkReservation[]): readonly Finding[] {
  return [...Map.groupBy(gone, ({ network }) => network)].map(([network, each]) =>
    found(leaked, {
      subject: `network ${network}`,
      what: `${count(each.length, 'address', 'addresses')} of ${network} ${each.length === 1 ? 'is' : 'are'} held for containers that are gone`,
      consequence: 'They are lost to the pool, and it runs dry sooner than it should.',
      remedy: 'free them; `--dry-run` beside it only shows which',
      commands: ['heddle doctor --fix'],
      evidence: [some(each.map(({ addr, containerID }) => `${addr} for ${containerID}`))],
      fix: { what: `free ${some(each.map(({ addr }) => addr))}`, command: 'heddle doctor --fix' },
    }),
  );
}

function unheld(view: NodeView, pool: Pool): readonly Finding[] {
  return view.pods.flatMap((pod): readonly Finding[] => {
    const { attachment, inside } = pod;
    if (attachment.network !== pool.network || inside?.link === undefined) return [];
    const usesHostLocal = new TextDecoder()
      .decode(pod.cached?.config ?? new Uint8Array())
      .includes('host-local');
    if (!usesHostLocal) return [];
    return promisedAddresses(pod)
      .filter((addr) => pool.sets.some((set) => rangeOf(set, addr) !== undefined))
      .filter((addr) => inside.addresses.some(({ prefix }) => prefix.addr.equals(addr)))
      .filter(
        (addr) =>
          !pool.held.some(
            (held) => held.addr === String(addr) && held.containerID === attachment.containerID,
          ),
      )
      .map((addr) => {
        const other = pool.held.find((held) => held.addr === String(addr));
        return found(unreserved, {
          subject: nameOf(attachment),
          what: `${addr} is in use, and ${other === undefined ? 'not reserved' : `reserved for ${other.containerID}`}`,
          consequence:
            other === undefined
              ? 'host-local will give it to the next container, and packets of the two will get mixed up.'
              : 'Two containers have one address, and packets of the two get mixed up.',
          remedy:
            other === undefined
              ? `start the container anew; until then, keep ${pool.directory}/${addr} reserved`
              : 'start one of the two containers anew',
          evidence: [`${pool.directory} has no file ${addr} for ${attachment.containerID}`],
        });
      });
  });
}

const HOUR = 3_600_000;

function inWords(hours: number): string {
  if (hours < 1) return count(Math.max(1, Math.round(hours * 60)), 'minute');
  return hours < 48 ? count(Math.round(hours), 'hour') : count(Math.round(hours / 24), 'day');
}
