/** The reference's dhcp beside ours: the same answers, the same flags, and what happens when the two are mixed. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Result } from '@heddle/cni';
import { AF, bind, listen, SOCK, socket } from '@heddle/sys';
import { missing, REFERENCE } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { type DhcpCall, DhcpLab, Running } from './dhcp-lab.ts';

const skip = missing('dnsmasq');
const directories = Object.entries(REFERENCE).filter(([, directory]) => existsSync(join(directory, 'dhcp')));
if (directories.length === 0) {
  test('the reference', {
    skip: "not installed: the reference's plugins (package containernetworking-plugins)",
  }, () => {});
}

/** What the two are asked: the same of both, with servers that have something for everybody. */
const questions: Readonly<Record<string, Partial<DhcpCall>>> = {
  'nothing but the defaults': {},
  'a metric': { ipam: { priority: 5 } },
  'classless routes': { ipam: { request: [{ option: '121' }] } },
  'static routes': {
    ipam: {
      request: [{ option: '33', skipDefault: true }, { option: 'routers' }, { option: 'subnet-mask' }],
    },
  },
  'a name from the arguments': {
    ipam: { provide: [{ option: 'host-name', value: 'x', fromArg: 'NAME' }] },
    args: 'junk;NAME=web-1;A=b=c',
  },
};

/** What a server gives to whoever asks for it. */
const SERVER = [
  '--dhcp-range=192.168.1.5,192.168.1.5,2m',
  ...['--dhcp-option=3,192.168.1.1', '--dhcp-option=33,10.0.0.0,192.168.1.3'],
];
const CLASSLESS = '--dhcp-option=121,10.0.0.0/8,192.168.1.2,198.51.100.0/24,0.0.0.0';

for (const [release, directory] of directories) {
  const reference = join(directory, 'dhcp');

  // Plugins of before version 1.1.0 of the specification know of no metrics and scopes.
  const knows = (what: string) => release === 'current' || what === 'nothing but the defaults';
  for (const [what, question] of Object.entries(questions).filter(([name]) => knows(name))) {
    test(`${release}: the same result for ${what}`, { skip }, async () => {
      using lab = new DhcpLab();
      // Ours asks for classless routes by itself; the reference has to be told to.
      const server = lab.dnsmasq(undefined, what === 'classless routes' ? [...SERVER, CLASSLESS] : SERVER);
      const theirs = await answerOf(lab, reference, { pod: lab.pod('c1'), ...question });
      const ours = await answerOf(lab, lab.plugin, { pod: lab.pod('c1'), ...question });
      // Static routes are always asked for, too.
      const routes = (ours.routes ?? []).filter(({ gw }) => what === 'static routes' || gw !== '192.168.1.3');
      assert.deepEqual({ dns: {}, ...ours, routes }, { dns: {}, ...theirs, routes: theirs.routes ?? [] });
      if (question.args !== undefined) {
        assert.equal(server.output.split('client provides name: web-1').length - 1, 4);
      }
    });
  }

  test(`${release}: its plugin is told that our daemon is another`, async () => {
    using lab = new DhcpLab();
    const daemon = await lab.daemon();
    await assert.rejects(
      lab.run('ADD', { pod: lab.pod('c1'), plugin: reference, cniVersion: '1.0.0' }),
      (error) => {
        assert.match(String(error), /error dialing DHCP daemon: .*501 this is Heddle's DHCP daemon/);
        return true;
      },
    );
    await daemon.said("a plugin of the reference wants to speak Go's RPC");
  });

  test(`${release}: our plugin says that its daemon is another; DEL is not kept from its end`, async () => {
    using lab = new DhcpLab();
    using _daemon = await referenceDaemon(lab, reference);
    const pod = lab.pod('c1');
    const msg = `error dialing DHCP daemon: who listens on ${lab.socket} is not Heddle's DHCP daemon`;
    const cniDetails = "it is the reference's: stop it, and start Heddle's with `heddle dhcp daemon`";
    await assert.rejects(lab.add({ pod }), { cniCode: 100, msg, cniDetails });
    await assert.rejects(lab.run('STATUS', { pod }), { cniCode: 50, msg, cniDetails });
    await lab.run('DEL', { pod });
  });

  test(`${release}: leases that only its daemon knew are taken over by CHECK`, { skip }, async () => {
    using lab = new DhcpLab();
    const server = lab.dnsmasq();
    const pod = lab.pod('c1');
    const call = { pod, cniVersion: '1.0.0' };
    using theirs = await referenceDaemon(lab, reference);
    const prevResult = JSON.parse(await lab.run('ADD', { ...call, plugin: reference })) as Result;
    pod.configure(prevResult);
    await theirs.end();
    const daemon = await lab.daemon();
    await lab.run('CHECK', { ...call, prevResult });
    const [address = ''] = prevResult.ips?.[0]?.address.split('/') ?? [];
    await daemon.said(`took over ${address}/24`);
    await lab.run('CHECK', { ...call, prevResult });
    await lab.run('DEL', { ...call, prevResult });
    await server.said(`DHCPRELEASE(eth0) ${address}`);
  });

  for (const args of [['-nope'], ['-timeout', 'soon'], ['-pidfile', 'relative'], ['-broadcast=perhaps']]) {
    test(`${release}: the same end for the flags ${args.join(' ')}`, async () => {
      using lab = new DhcpLab();
      const endOf = async (program: string) => {
        using run = new Running(lab.node.handle, program, ['daemon', ...args]);
        const { exitCode, output } = await run.ended();
        return { exitCode, firstLine: output.split('\n')[0]?.replace(/^(\d\S+ \S+|dhcp:) /, '') };
      };
      assert.deepEqual(await endOf(lab.plugin), await endOf(reference));
    });
  }
}

test('systemd hands a socket over', { skip }, async () => {
  using lab = new DhcpLab();
  lab.dnsmasq();
  const path = join(lab.node.directory, 'activated.sock');
  using listening = socket({ family: AF.UNIX, type: SOCK.STREAM });
  bind(listening, Buffer.from(`\x01\0${path}\0`, 'latin1'));
  listen(listening, 5);
  // The shell knows the number of the process that it becomes.
  const script = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" daemon -statedir "$1"';
  using daemon = new Running(
    lab.node.handle,
    'sh',
    ['-c', script, lab.plugin, lab.stateDir],
    {},
    undefined,
    listening.number,
  );
  const pod = lab.pod('c1');
  const result = await lab.add({ pod, ipam: { daemonSocketPath: path } });
  assert.match(result.ips?.[0]?.address ?? '', /^192\.168\.1\./);
  assert.equal(await daemon.end(), 0);
  // It is systemd's to remove.
  assert.ok(existsSync(path));
});

/** What a plugin answers, with the daemon that belongs to it. */
async function answerOf(lab: DhcpLab, plugin: string, call: DhcpCall): Promise<Result> {
  using daemon = plugin === lab.plugin ? await lab.daemon() : await referenceDaemon(lab, plugin);
  const result = JSON.parse(await lab.run('ADD', { ...call, plugin, cniVersion: '1.0.0' }));
  await lab.run('DEL', { ...call, plugin, cniVersion: '1.0.0' });
  await daemon.end();
  return result;
}

async function referenceDaemon(lab: DhcpLab, program: string): Promise<Running> {
  const daemon = new Running(lab.node.handle, program, ['daemon', '-socketpath', lab.socket]);
  await until('the daemon of the reference', () => existsSync(lab.socket) || undefined);
  return daemon;
}
