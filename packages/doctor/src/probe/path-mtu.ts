/** How large a packet may be on the way to an address, found out by sending some that must not be fragmented. */
import type { Addr } from '@heddle/netaddr';
import type { EchoProbe } from './echo.ts';

/** What was found out. */
export type PathMtu =
  /** Not even a small packet is answered: nothing is known. */
  | { readonly kind: 'unanswered' }
  /** Packets of the wanted size arrive. */
  | { readonly kind: 'fits' }
  | {
      /** They do not. */
      readonly kind: 'too-small';
      /** The largest size that was answered. */
      readonly works: number;
      /** Whether somebody said so (ICMP), or they were lost without a word. */
      readonly silent: boolean;
      /** The MTU that was told. */
      readonly told?: number;
    };

/** The way to try. */
export interface PathQuestion {
  readonly target: Addr;
  readonly link?: number | undefined;
  /** The size that should fit, in bytes of the whole IP packet. */
  readonly size: number;
}

/**
 * Tries a way with at most some twenty packets, of which only one to three are larger than what works.
 *
 * @param probe asks from where packets start
 */
export async function pathMtu(probe: EchoProbe, { target, link, size }: PathQuestion): Promise<PathMtu> {
  const ask = (bytes?: number) =>
    probe.askUntil({ target, link, wait: WAIT, ...(bytes !== undefined && { size: bytes }) }, TRIES);
  if ((await ask()).kind !== 'reply') return { kind: 'unanswered' };
  const full = await ask(size);
  if (full.kind === 'reply') return { kind: 'fits' };
  const told = full.kind === 'error' && full.mtu !== undefined && full.mtu > 0 ? { told: full.mtu } : {};
  const sizes = [...STEPS.filter((step) => step < size), ...(told.told === undefined ? [] : [told.told])];
  const answers = await Promise.all(
    sizes.map(async (step) =>
      (await probe.ask({ target, link, size: step, wait: WAIT })).kind === 'reply' ? step : 0,
    ),
  );
  return { kind: 'too-small', works: Math.max(...answers, 0), silent: full.kind === 'silence', ...told };
}

const WAIT = 400;
const TRIES = 3;

/**
 * Sizes that ways are usually limited to: IPv6's least, what is left of 1500 within the usual tunnels (WireGuard 1420,
 * VXLAN 1450, IP-in-IP 1480, PPPoE 1492 …), of 1460 (Google's cloud), of jumbo frames.
 */
const STEPS = [
  576, 1280, 1350, 1370, 1390, 1400, 1410, 1420, 1430, 1440, 1450, 1460, 1480, 1492, 1500, 8850, 8950, 9000,
];
