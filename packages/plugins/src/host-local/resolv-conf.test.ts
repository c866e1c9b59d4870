import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseResolvConf, readResolvConf } from './resolv-conf.ts';

describe('resolv.conf', () => {
  const rows: readonly [name: string, text: string, expected: object][] = [
    ['one server', 'nameserver 192.0.2.0\n', { nameservers: ['192.0.2.0'] }],
    [
      'comments',
      '# nameserver 192.0.2.0\n; nameserver 192.0.2.1\n  #x y\nnameserver 192.0.2.2\n',
      { nameservers: ['192.0.2.2'] },
    ],
    [
      'every field',
      [
        'nameserver 192.0.2.0',
        'nameserver 192.0.2.2',
        'domain example.com',
        'search example.net example.org',
        'options ndots:2 timeout:1',
        'search example.edu',
        'options rotate',
        'sortlist 192.0.2.0',
      ].join('\n'),
      {
        nameservers: ['192.0.2.0', '192.0.2.2'],
        domain: 'example.com',
        search: ['example.net', 'example.org', 'example.edu'],
        options: ['ndots:2', 'timeout:1', 'rotate'],
      },
    ],
    ['keywords without a value', 'nameserver\nsearch \noptions\n\n', {}],
    ['tabs and carriage returns', '\tnameserver\t192.0.2.9 ignored\r\n', { nameservers: ['192.0.2.9'] }],
    ['several domains', 'domain a.example\ndomain b.example', { domain: 'b.example' }],
  ];
  for (const [name, text, expected] of rows) {
    test(name, () => assert.deepEqual(parseResolvConf(text), expected));
  }

  test('is read from a file, and its absence is an error with the path', () => {
    const directory = mkdtempSync(join(tmpdir(), 'heddle-resolv-'));
    try {
      const path = join(directory, 'resolv.conf');
      assert.throws(() => readResolvConf(path), {
        cniCode: 5,
        message: /^read resolvConf: ENOENT.*resolv\.conf/,
      });
      for (const endless of ['/dev/zero', directory]) {
        assert.throws(() => readResolvConf(endless), {
          cniCode: 5,
          message: `read resolvConf: ${endless} is no regular file`,
        });
      }
      writeFileSync(path, 'nameserver 2001:db8::53');
      assert.deepEqual(readResolvConf(path), { nameservers: ['2001:db8::53'] });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
