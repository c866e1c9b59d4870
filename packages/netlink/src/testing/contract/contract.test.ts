import { describe, test } from 'node:test';
import { FakeKernel } from '../fake-kernel.ts';
import { CONTRACT } from './index.ts';

for (const [table, cases] of Object.entries(CONTRACT)) {
  describe(`the fake kernel does as a real one: ${table}`, () => {
    for (const { name, run } of cases) {
      test(name, async () => {
        const kernel = new FakeKernel();
        using host = kernel.session('host');
        using pod = kernel.session('pod');
        await run({ host, pod });
      });
    }
  });
}
