/** Faults of plugins as programs, staged for real: the right cause comes first. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Finding } from '@heddle/doctor';
import { DoctorLab } from './doctor-lab.ts';

/** Breaks the plugin `portmap`, and has the doctor look. */
async function firstOf(breakIt: (lab: DoctorLab, path: string) => void): Promise<Finding | undefined> {
  using lab = new DoctorLab();
  lab.podnet();
  const path = join(lab.bin, 'portmap');
  rmSync(path);
  breakIt(lab, path);
  return (await lab.findings())[0];
}

describe('a plugin', () => {
  test('that is not installed', async () => {
    const first = await firstOf(() => undefined);
    assert.equal(first?.id, 'program/missing');
    assert.match(first?.what ?? '', /there is no portmap in .*\/bin/);
  });

  test('that is a broken link', async () => {
    const first = await firstOf((_, path) => symlinkSync('/nonexistent/portmap', path));
    assert.equal(first?.id, 'program/unusable');
    assert.match(first?.what ?? '', /broken link .*\/nonexistent\/portmap/);
  });

  test('that is a directory', async () => {
    const first = await firstOf((_, path) => mkdirSync(path));
    assert.equal(first?.id, 'program/unusable');
    assert.match(first?.what ?? '', /a directory/);
  });

  test('that is not executable', async () => {
    const first = await firstOf((lab) => lab.stub('portmap', '#!/bin/sh\n', 0o644));
    assert.equal(first?.id, 'program/unusable');
    assert.match(first?.what ?? '', /not executable/);
  });

  test('for another processor', async () => {
    const first = await firstOf((_, path) => {
      const program = readFileSync('/bin/true');
      // e_machine (elf(5)): another than this machine's.
      program.writeUInt16LE(process.arch === 'arm64' ? 62 : 183, 18);
      writeFileSync(path, program, { mode: 0o755 });
    });
    assert.equal(first?.id, 'program/unusable');
    assert.match(first?.what ?? '', /built for (arm64|x64)|exec format/i);
  });

  test('whose interpreter is not installed', async () => {
    const first = await firstOf((lab) => lab.stub('portmap', '#!/opt/nobody/python\n'));
    assert.equal(first?.id, 'program/unusable');
    assert.match(first?.what ?? '', /interpreter \/opt\/nobody\/python is not installed/);
  });

  test('whose loader is not installed', async () => {
    const first = await firstOf((_, path) => {
      const program = readFileSync('/bin/true');
      const name = /\/lib[\w/.-]*ld-linux[\w.-]+/.exec(program.toString('latin1').slice(0, 4096))?.[0] ?? '';
      assert.notEqual(name, '', '/bin/true names its loader');
      program.write(name.replace('/lib', '/lab'), program.indexOf(name), 'latin1');
      writeFileSync(path, program, { mode: 0o755 });
    });
    assert.equal(first?.id, 'program/unusable');
    assert.match(first?.what ?? '', /interpreter \/lab\S*ld-linux\S* is not installed/);
  });

  test('on a file system that is mounted noexec', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    rmSync(join(lab.bin, 'portmap'));
    lab.stub('portmap', '#!/bin/sh\n');
    execFileSync('mount', ['--bind', lab.bin, lab.bin]);
    try {
      execFileSync('mount', ['-o', 'remount,bind,noexec', lab.bin]);
      const [first] = await lab.findings();
      assert.equal(first?.id, 'program/unusable');
      assert.match(first?.what ?? '', /portmap cannot be started: .*bin is mounted noexec/);
    } finally {
      execFileSync('umount', [lab.bin]);
    }
  });

  test('that crashes', async () => {
    const first = await firstOf((lab) => lab.stub('portmap', '#!/bin/sh\nkill -SEGV $$\n'));
    assert.equal(first?.id, 'program/fails');
    assert.match(first?.what ?? '', /fails when it is asked for its versions/);
  });

  test('that crashes, in a network that is asked whether it is ready: the crash alone is told', async () => {
    using lab = new DoctorLab();
    lab.podnet({ top: { cniVersion: '1.1.0' } });
    rmSync(join(lab.bin, 'portmap'));
    lab.stub('portmap', '#!/bin/sh\nkill -SEGV $$\n');
    const findings = await lab.findings();
    assert.deepEqual(
      findings.map(({ id }) => id),
      ['program/fails'],
    );
    assert.match(findings[0]?.what ?? '', /versions: signal: segmentation fault$/);
  });

  test('that prints nothing, or noise', async () => {
    for (const script of ['exit 0', 'echo level=info hello']) {
      const first = await firstOf((lab) => lab.stub('portmap', `#!/bin/sh\n${script}\n`));
      assert.equal(first?.id, 'program/fails', script);
    }
  });

  test('that does not speak the version of its network', async () => {
    const answer = '{"cniVersion":"0.4.0","supportedVersions":["0.3.1","0.4.0"]}';
    const first = await firstOf((lab) => lab.stub('portmap', `#!/bin/sh\necho '${answer}'\n`));
    assert.equal(first?.id, 'program/version');
    assert.match(first?.what ?? '', /portmap does not speak version 1\.0\.0/);
    assert.match(first?.evidence?.join() ?? '', /speaks 0\.3\.1, 0\.4\.0/);
  });

  test('that does not speak the version, as others of its chain: one finding, with the version to write', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    const says = (...versions: string[]) =>
      `#!/bin/sh\necho '${JSON.stringify({ cniVersion: '0.4.0', supportedVersions: versions })}'\n`;
    for (const name of ['portmap', 'bridge']) rmSync(join(lab.bin, name));
    lab.stub('portmap', says('0.3.1', '0.4.0'));
    lab.stub('bridge', says('0.4.0', '0.3.1'));
    const findings = (await lab.findings()).filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      findings.map(({ id, what }) => [id, what]),
      [['program/version', 'bridge, portmap do not speak version 1.0.0']],
    );
    assert.match(findings[0]?.remedy ?? '', /set "cniVersion" to "0\.4\.0"/);
  });

  test('whose network has a version that is none: that alone is told', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    const path = join(lab.configDir, '10-podnet.conflist');
    writeFileSync(path, readFileSync(path, 'utf8').replace('1.0.0', '1.0'));
    const findings = (await lab.findings()).filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      findings.map(({ id, fix }) => [id, fix?.command]),
      [['version/malformed', 'heddle audit --fix']],
    );
  });

  test('that says it is not ready', async () => {
    using lab = new DoctorLab();
    lab.podnet({ top: { cniVersion: '1.1.0' } });
    const script = `#!/bin/sh
case $CNI_COMMAND in
  VERSION) echo '{"cniVersion":"1.1.0","supportedVersions":["1.0.0","1.1.0"]}' ;;
  STATUS) echo '{"cniVersion":"1.1.0","code":50,"msg":"the agent has not come up"}'; exit 1 ;;
esac
`;
    rmSync(join(lab.bin, 'portmap'));
    lab.stub('portmap', script);
    const [first] = await lab.findings();
    assert.equal(first?.id, 'network/not-ready');
    assert.match(first?.what ?? '', /the agent has not come up/);
    lab.uid = 65_534;
    const ids = (await lab.findings()).map(({ id }) => id);
    assert.ok(!ids.includes('network/not-ready'), 'without root a plugin cannot be ready');
  });

  test('that CRI-O does not find, for it looks elsewhere', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    const setting = 'plugin_dirs in /etc/crio/crio.conf';
    const pluginReaders = [{ runtime: 'CRI-O', directories: ['/usr/libexec/nowhere'], setting }];
    const [first] = await lab.findings({}, { pluginReaders });
    assert.equal(first?.id, 'program/out-of-reach');
    assert.match(first?.what ?? '', /^CRI-O looks .* there is no bridge, host-local, portmap$/);
    assert.match(first?.remedy ?? '', /plugin_dirs in \/etc\/crio\/crio\.conf/);
    const found = [{ runtime: 'CRI-O', directories: ['/usr/libexec/nowhere', lab.bin], setting }];
    assert.deepEqual(await lab.findings({}, { pluginReaders: found }), []);
  });

  test('that is in order, behind an unusable copy of itself, is only warned of', async () => {
    using lab = new DoctorLab();
    lab.podnet();
    const before = join(lab.directory, 'before');
    mkdirSync(before);
    copyFileSync('/etc/hostname', join(before, 'portmap'));
    chmodSync(join(before, 'portmap'), 0o644);
    const findings = await lab.findings({}, { pluginPath: [before, lab.bin] });
    assert.deepEqual(
      findings.map(({ id, severity }) => [id, severity]),
      [['program/passed-over', 'warning']],
    );
  });
});
