import type { Transport } from './transport.ts';

/** Called when an exchange with the kernel begins. What it returns is called when that has ended, however it did. */
export type ExchangeObserver = () => () => void;

/** A transport whose exchanges are told to somebody. */
export function observed(transport: Transport, onExchange: ExchangeObserver | undefined): Transport {
  if (onExchange === undefined) return transport;
  const { immediate } = transport;
  return {
    exchange: (request) => observing(onExchange, () => transport.exchange(request)),
    ...(immediate !== undefined && {
      immediate: {
        suits: (request: Uint8Array) => immediate.suits(request),
        exchange(request: Uint8Array) {
          const end = onExchange();
          try {
            return immediate.exchange(request);
          } finally {
            end();
          }
        },
      },
    }),
    recover: () => transport.recover?.(),
    [Symbol.dispose]: () => transport[Symbol.dispose](),
  };
}

/** Tells of one exchange. */
export async function observing<T>(
  onExchange: ExchangeObserver | undefined,
  exchange: () => Promise<T>,
): Promise<T> {
  const end = onExchange?.();
  try {
    return await exchange();
  } finally {
    end?.();
  }
}
