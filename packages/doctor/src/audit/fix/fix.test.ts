/** Repairs of files: what they change and what they keep, and what a kill leaves. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { audit } from '../audit.ts';
import { nodeFiles } from '../node-files.ts';
import { findingsIn, memoryFiles } from '../testing/scene.ts';
import { SYNTAX_CASES } from '../testing/syntax-cases.ts';
import { unifiedDiff } from './diff.ts';
import { type FileChange, planFixes } from './plan.ts';
import { writeChange } from './write.ts';

const UNTIDY = `{
  "cniVersion" : "v1.0.0",   "name":"pods",
\t"plugins": [ { "type": "bridge", "_note": "keep  me",
      "ipam": { "type": "host-local", "subnet": "10.1.2.3/16", }, },
  ],
}
`;

class Directory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'heddle-fix-'));

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  /** Mends everything; gives the diffs. */
  mend(): readonly string[] {
    const changes = planFixes(audit({ paths: [this.path], files: nodeFiles }).findings, nodeFiles);
    for (const change of changes) writeChange(change);
    return changes.map(unifiedDiff);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

describe('a repair', () => {
  test('changes what is wrong and keeps everything else, formatting included', () => {
    using directory = new Directory();
    const path = directory.write('10-pods.conflist', UNTIDY);
    directory.mend();
    assert.equal(
      readFileSync(path, 'utf8'),
      `{
  "cniVersion" : "1.0.0",   "name":"pods",
\t"plugins": [ { "type": "bridge", "_note": "keep  me",
      "ipam": { "type": "host-local", "subnet": "10.1.0.0/16" } }
  ]
}
`,
    );
    assert.deepEqual(directory.mend(), []);
  });

  test('shows the change as a diff', () => {
    const scene = { files: { 'a.conflist': UNTIDY } };
    const [change] = planFixes(findingsIn(scene), memoryFiles(scene.files));
    assert.match(
      unifiedDiff(change as FileChange),
      /^- {2}"cniVersion" : "v1\.0\.0", .*\n\+ {2}"cniVersion" : "1\.0\.0", /m,
    );
    assert.match(unifiedDiff(change as FileChange), /^# .*a\.conflist: remove the comma$/m);
    const marked = {
      files: { 'a.conflist': `\ufeff{"cniVersion":"1.0.0","name":"x","plugins":[{"type":"bridge"}]}` },
    };
    const [unmarked] = planFixes(findingsIn(marked), memoryFiles(marked.files));
    assert.match(unifiedDiff(unmarked as FileChange), /^-<BOM>\{/m);
  });

  test('of anything that is staged ends after one or two rounds and is quiet then', () => {
    for (const { rule, bad } of SYNTAX_CASES) {
      let files: Record<string, unknown> = { ...bad.files };
      let rounds = 0;
      for (; rounds < 4; rounds++) {
        const changes = planFixes(findingsIn({ files }), memoryFiles(files));
        if (changes.length === 0) break;
        for (const { path, after, renameTo = path } of changes) {
          const { [path.replace('/etc/cni/net.d/', '')]: _, ...others } = files;
          files = { ...others, [renameTo.replace('/etc/cni/net.d/', '')]: after };
        }
      }
      assert.ok(rounds <= 2, rule);
    }
  });

  test('of any mixture of commas, marks, line endings and encodings leaves the value that was meant, once for all', () => {
    const value = {
      cniVersion: '1.0.0',
      name: 'pods',
      plugins: [{ type: 'bridge', vlanTrunk: [{ id: 5 }] }],
    };
    const shapes = fc.record({
      comma: fc.boolean(),
      mark: fc.boolean(),
      crlf: fc.boolean(),
      wide: fc.boolean(),
      indent: fc.integer({ min: 0, max: 4 }),
    });
    fc.assert(
      fc.property(shapes, ({ comma, mark, crlf, wide, indent }) => {
        let text = JSON.stringify(value, null, indent);
        if (comma) text = text.replace(/(\s*)([\]}])/g, ',$1$2');
        if (crlf) text = text.replaceAll('\n', '\r\n');
        if (mark) text = `\ufeff${text}`;
        let content: string | Uint8Array = wide
          ? Uint8Array.from([0xff, 0xfe, ...Buffer.from(text, 'utf16le')])
          : text;
        for (let round = 0; round < 3; round++) {
          const files = { 'a.conflist': content };
          const [change] = planFixes(findingsIn({ files }), memoryFiles(files));
          if (change === undefined) break;
          content = change.after;
        }
        const files = { 'a.conflist': content };
        assert.deepEqual(
          JSON.parse(String(content instanceof Uint8Array ? Buffer.from(content) : content)),
          value,
        );
        assert.deepEqual(planFixes(findingsIn({ files }), memoryFiles(files)), []);
      }),
      { numRuns: 150 },
    );
  });

  test('makes a list of a single plugin and keeps its text', () => {
    using directory = new Directory();
    const path = directory.write(
      '10-a.conflist',
      '{\n  "cniVersion": "1.0.0",\n  "name": "a",\n  "type": "bridge"\n}\n',
    );
    directory.mend();
    const text = readFileSync(path, 'utf8');
    assert.deepEqual(JSON.parse(text), {
      ...{ cniVersion: '1.0.0', name: 'a' },
      plugins: [{ cniVersion: '1.0.0', name: 'a', type: 'bridge' }],
    });
    assert.match(text, /^ {6}"type": "bridge"$/m);
    assert.deepEqual(directory.mend(), []);
  });

  test('renames a list, but never over another file', () => {
    using directory = new Directory();
    const body = JSON.stringify({ cniVersion: '1.0.0', name: 'a', plugins: [{ type: 'bridge' }] });
    directory.write('10-a.conf', body);
    directory.write('20-b.conf', body.replace('"a"', '"b"'));
    directory.write('20-b.conflist', body.replace('"a"', '"c"'));
    directory.mend();
    assert.deepEqual(readdirSync(directory.path).sort(), ['10-a.conflist', '20-b.conf', '20-b.conflist']);
  });

  test('keeps the mode of the file, and a link a link', () => {
    using directory = new Directory();
    const target = directory.write('target', UNTIDY);
    chmodSync(target, 0o640);
    symlinkSync('target', join(directory.path, '10-pods.conflist'));
    directory.mend();
    assert.equal(statSync(target).mode & 0o777, 0o640);
    assert.ok(lstatSync(join(directory.path, '10-pods.conflist')).isSymbolicLink());
    assert.doesNotMatch(readFileSync(target, 'utf8'), /v1\.0\.0/);
    assert.deepEqual(readdirSync(directory.path).sort(), ['10-pods.conflist', 'target']);
  });

  test('that is killed leaves the old file or the new one', async () => {
    using directory = new Directory();
    const [before, after] = [`{"a":"${'x'.repeat(400_000)}"}`, `{"b":"${'y'.repeat(500_000)}"}`];
    const path = directory.write('10-a.conflist', before);
    const seen = new Set<string>();
    const module = new URL('./write.ts', import.meta.url).href;
    using scripts = new Directory();
    const script = scripts.write(
      'write-on.mjs',
      `import { writeChange } from ${JSON.stringify(module)};
       const path = ${JSON.stringify(path)};
       const [one, two] = [${JSON.stringify(before)}, ${JSON.stringify(after)}];
       process.stdout.write('.');
       for (;;) {
         for (const [before, after] of [[one, two], [two, one]]) {
           writeChange({ path, before, after, isReencoded: false, what: [] });
         }
       }`,
    );
    for (let round = 0; round < 12; round++) {
      const child = spawn(process.execPath, ['--conditions=source', '--no-warnings', script]);
      await once(child.stdout, 'data');
      await sleep(3 + ((round * 7) % 20));
      child.kill('SIGKILL');
      await once(child, 'exit');
      const text = readFileSync(path, 'utf8');
      seen.add(text === before ? 'old' : text === after ? 'new' : 'torn');
      // What a kill leaves besides is nothing that a runtime reads.
      assert.ok(
        readdirSync(directory.path).every((name) => name === '10-a.conflist' || /^\..*\.draft$/.test(name)),
      );
    }
    assert.ok(!seen.has('torn'), [...seen].join());
  });
});
