/** ADDs that are killed between any two requests, and what DEL and GC find of them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runInNetns } from '@heddle/sys';
import type { LabRequest } from '../testing/index.ts';
import { FirewallLab } from './testing.ts';

/** What is called after the ADD was killed. */
const AFTER: Readonly<Record<string, (lab: FirewallLab, request: LabRequest) => Promise<void>>> = {
  'DEL without a previous result': (lab, request) => lab.del({ ...request, prevResult: undefined }),
  GC: (lab, { config }) => lab.gc({ ...config, cniVersion: '1.1.0' }, [OTHER]),
};
const OTHER = { containerID: 'other', ifname: 'eth0' };

for (const backend of ['iptables', 'nftables']) {
  for (const [what, takeDown] of Object.entries(AFTER)) {
    test(`an ADD with ${backend} that is killed at any request leaves nothing after ${what}`, async (t) => {
      using lab = new FirewallLab();
      const config = { backend, ingressPolicy: 'same-bridge' };
      // What is shared is there, and stays for the other.
      await lab.add(lab.request(config, { id: OTHER.containerID, ips: ['10.1.2.6/24', 'fd01::6/64'] }));
      const before = lab.hostState();
      const request = lab.request(config);
      const killed: string[] = [];
      for (let at = 1; ; at++) {
        const requestName = addKilledAt(lab, at, request);
        await takeDown(lab, request);
        assert.equal(lab.hostState(), before, requestName);
        if (requestName === undefined) break;
        killed.push(requestName);
      }
      t.diagnostic(`killed at ${killed.join(', ')}`);
      assert.ok(killed.includes('nft.commit'), 'no ADD died between looking and changing');
    });
  }
}

/** An ADD in a process of its own, which is killed at the n-th request. Returns that request, unless it came to an end. */
function addKilledAt({ host }: FirewallLab, at: number, request: LabRequest): string | undefined {
  const call = JSON.stringify({ ...request, command: 'ADD' });
  const { signal, status, stdout, stderr } = runInNetns(host.handle, () =>
    spawnSync(process.execPath, ['--conditions=source', PROGRAM, `${at}`, call], { encoding: 'utf8' }),
  );
  if (signal === 'SIGKILL') return stdout;
  assert.equal(status, 0, stderr);
  return undefined;
}

const PROGRAM = fileURLToPath(new URL('testing-program.ts', import.meta.url));
