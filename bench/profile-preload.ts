/**
 * Loaded into an agent that `agent-cost.ts --profile` measures: takes a profile of it from the moment that a file appears
 * until it is gone again.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const kind = process.env['PROFILE'] === 'heap' ? 'HeapProfiler' : 'Profiler';
const session = new Session();
session.connect();
let running = false;
let busy = false;

setInterval(async () => {
  if (busy || existsSync('/run/profile') === running) return;
  busy = true;
  running = !running;
  if (running) await begin();
  else writeFileSync('/run/profile.json', JSON.stringify(await end()));
  busy = false;
}, 50).unref();

async function begin(): Promise<void> {
  if (kind === 'HeapProfiler') {
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: 4096,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    } as never);
    return;
  }
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 100 });
  await session.post('Profiler.start');
}

async function end(): Promise<unknown> {
  if (kind === 'HeapProfiler') return (await session.post('HeapProfiler.stopSampling')).profile;
  return (await session.post('Profiler.stop')).profile;
}
