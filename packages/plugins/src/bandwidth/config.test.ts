import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigError, decodeConfig } from '@heddle/cni';
import { BURST_MAX, bandwidthConfig, limitsOf } from './config.ts';
import { tokenBucket } from './token-bucket.ts';

const read = (text: string) => limitsOf(decodeConfig(bandwidthConfig, text));
const refuses = (text: string, msg: string) =>
  assert.throws(
    () => read(text),
    (error) => error instanceof ConfigError && error.msg.endsWith(msg),
    text,
  );

describe('limits', () => {
  test('come from the runtime, in any letter case, when the configuration has none of its own', () => {
    const runtime = '"RuntimeConfig": { "bandWidth": { "IngressRate": 8000, "ingressBurst": 80 } }';
    const ingress = { rate: 8000n, burst: 80n };
    assert.deepEqual(read(`{ ${runtime} }`), { ingress });
    assert.deepEqual(read(`{ "egressRate": 16, "egressBurst": 8, ${runtime} }`), {
      egress: { rate: 16n, burst: 8n },
    });
    assert.deepEqual(read(`{ "ingressRate": 0, ${runtime} }`), {});
    assert.deepEqual(read('{}'), {});
  });

  test('have both a rate and a burst', () => {
    refuses('{ "ingressRate": 1000 }', 'if rate is set, burst must also be set');
    refuses('{ "egressRate": 1000, "egressBurst": 0 }', 'if rate is set, burst must also be set');
    refuses('{ "egressBurst": 1000 }', 'if burst is set, rate must also be set');
    const egress = '"egressBurst": 8, "egressRate": 8';
    refuses(`{ ${egress}, "ingressBurst": 8 }`, 'if burst is set, rate must also be set');
  });

  test('a burst of 4 GiB is refused with the largest that is not, as is what is no number (cri-o/cri-o#4348)', () => {
    const burst = (value: string) => `{ "ingressRate": 40000000000, "ingressBurst": ${value} }`;
    for (const fits of [34_359_738_352n, BURST_MAX]) {
      assert.deepEqual(read(burst(`${fits}`)), { ingress: { rate: 40_000_000_000n, burst: fits } });
    }
    for (const large of ['34359738360', '18446744073709551615']) {
      refuses(burst(large), `burst cannot be more than 4GB: at most 34359738359 bits, got ${large}`);
    }
    for (const odd of ['-8', '"1e9"', '1.5', '18446744073709551616']) {
      assert.throws(() => read(burst(odd)), /expected an integer from 0 to 18446744073709551615/);
    }
  });

  test('a rate of less than a byte in a second is refused (kubernetes/kubernetes#90838)', () => {
    refuses('{ "ingressRate": 1, "ingressBurst": 8000 }', 'a rate is at least 8 bits per second, got 1');
  });
});

describe('token buckets', () => {
  for (const [rate, burst, bucket] of [
    [8000n, 80n, { rate: 1000, limit: 35, buffer: 156_250 }],
    [16n, 8n, { rate: 2, limit: 1, buffer: 7_812_500 }],
    [8n, 8n, { rate: 1, limit: 1, buffer: 15_625_000 }],
    // What does not fit is the largest that does: nothing wraps.
    [8n, BURST_MAX, { rate: 1, limit: 4_294_967_294, buffer: 4_294_967_295 }],
    [40_000_000_000n, BURST_MAX, { rate: 5_000_000_000, limit: 4_294_967_295, buffer: 13_421_765 }],
  ] as const) {
    test(`${rate} bits per second, at once ${burst}`, () => {
      assert.deepEqual(tokenBucket({ rate, burst }), bucket);
    });
  }

  test('a burst that the kernel would take for none is refused', () => {
    assert.throws(() => tokenBucket({ rate: 40_000_000_000n, burst: 8n }), /too small/);
  });
});
