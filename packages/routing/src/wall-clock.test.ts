import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WallClock } from './wall-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const EPOCH = 1_700_000_000_000;

function setUp() {
  const machine = { monotonic: 5_000, ahead: 0 };
  const clock = new WallClock({
    monotonic: () => machine.monotonic,
    now: () => EPOCH + machine.ahead + Math.floor(machine.monotonic),
  });
  const pass = (milliseconds: number) => {
    machine.monotonic += milliseconds;
  };
  const set = (by: number) => {
    machine.ahead += by;
  };
  return { clock, pass, set };
}

test('moments are what the clock shows, and age as time passes', () => {
  const { clock, pass } = setUp();
  const at = clock.now();
  assert.equal(at, EPOCH + 5_000);
  assert.equal(clock.age(at), 0);
  pass(0.7);
  assert.equal(clock.now(), EPOCH + 5_000);
  pass(29_999.3);
  assert.equal(clock.age(at), 30_000);
  assert.equal(clock.age(at - DAY), DAY + 30_000, 'of before it looked');
});

for (const by of [DAY, -HOUR, 90_000, -90_000]) {
  test(`a clock that is set by ${by / 1000} seconds makes nothing older or younger`, () => {
    const { clock, pass, set } = setUp();
    const before = clock.now();
    pass(10_000);
    set(by);
    const after = clock.now();
    assert.equal(after, before + 10_000 + by);
    assert.equal(clock.age(before), 10_000);
    assert.equal(clock.age(after), 0);
    pass(20_000);
    assert.deepEqual([clock.age(before), clock.age(after)], [30_000, 20_000]);
  });
}

test('a clock that is set again and again is seen through, in either direction', () => {
  const { clock, pass, set } = setUp();
  const moments: number[] = [];
  for (const by of [DAY, -HOUR, -2 * DAY, DAY]) {
    moments.push(clock.now());
    pass(7_000);
    set(by);
  }
  assert.deepEqual(
    moments.map((moment) => clock.age(moment)),
    [28_000, 21_000, 14_000, 7_000],
  );
});

test('a moment that the clock has shown twice was the last time', () => {
  const { clock, pass, set } = setUp();
  const at = clock.now() + 5_000;
  pass(10_000);
  set(-10_000);
  assert.equal(clock.now(), at - 5_000);
  pass(6_000);
  assert.equal(clock.age(at), 1_000);
});

test('others’ moments of while this clock alone is wrong age as if it were not', () => {
  const { clock, pass, set } = setUp();
  const right = clock.now();
  pass(1_000);
  set(DAY);
  clock.now();
  pass(4_000);
  assert.equal(clock.age(right + 5_000), 0);
  pass(60_000);
  assert.equal(clock.age(right + 5_000), 60_000);
});

test('a moment to come is as old as it has been known', () => {
  const { clock, pass, set } = setUp();
  const [one, two] = [clock.now() + DAY, clock.now() + HOUR];
  assert.equal(clock.age(one), 0);
  pass(20_000);
  assert.deepEqual([clock.age(one), clock.age(two)], [20_000, 0]);
  set(-HOUR);
  pass(10_000);
  assert.deepEqual([clock.age(one), clock.age(two)], [30_000, 10_000]);
});

test('a clock that goes too fast has not been set', () => {
  const { clock, pass, set } = setUp();
  const at = clock.now();
  for (let minute = 0; minute < 10; minute++) {
    pass(60_000);
    set(30);
    clock.now();
  }
  assert.equal(clock.age(at), 600_300);
});
