import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkPlugin } from '../run.ts';

const PLUGIN = `#!/bin/sh
[ "$CNI_COMMAND" != VERSION ] || { echo '{"cniVersion":"1.1.0","supportedVersions":["1.1.0"]}'; exit 0; }
[ "$CNI_COMMAND" = ADD ] || exit 0
echo 'the kernel knows no links of that kind' >&2
echo '{"cniVersion":"1.1.0","code":100,"msg":"no link"}'
exit 1
`;

test('a plugin that can ADD nothing is told with its error, and with what it said on stderr', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-detect-'));
  try {
    const program = join(directory, 'plugin');
    writeFileSync(program, PLUGIN);
    chmodSync(program, 0o755);
    await assert.rejects(checkPlugin({ program, kind: 'interface', env: process.env }), (error: Error) => {
      assert.match(error.message, /as interface: exit code 1, .*"msg":"no link"/);
      assert.match(error.message, /stderr: the kernel knows no links of that kind/);
      return true;
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
