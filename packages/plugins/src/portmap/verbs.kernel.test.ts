/** The verbs of portmap on the real kernel, with our nftables layout. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CNI_CODE, PluginError } from '@heddle/cni';
import { ownerAlias, ownerTag, tagKey } from '@heddle/cni/plugin';
import type { KernelSession } from '@heddle/netlink';
import { Sabotage } from '../testing/index.ts';
import { type Pod, PortLab } from './testing.ts';

const web = { hostPort: 8080, containerPort: 80, protocol: 'tcp' };
const call = (pod: Pod, mappings: readonly object[], more: object = {}) => ({
  config: { type: 'portmap', ...more, runtimeConfig: { portMappings: mappings } },
  container: pod.container,
  prevResult: pod.result,
});
const refused = (code: number, text: RegExp) => (error: unknown) =>
  error instanceof PluginError && error.cniCode === code && text.test(error.message);
const elements = (node: PortLab) => [...node.lab.hostState().matchAll(/id: (\w+)"/g)].map(([, id]) => id);

describe('ADD', () => {
  test('passes the result on, unchanged', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    const result = await node.lab.add(call(pod, [web]));
    assert.deepEqual(JSON.parse(JSON.stringify(result)), pod.result);
    const quiet = node.pod(3);
    assert.deepEqual(JSON.parse(JSON.stringify(await node.lab.add(call(quiet, [])))), quiet.result);
  });

  test('needs a plugin before it', async () => {
    using node = new PortLab();
    const { prevResult: _, ...alone } = call(node.pod(2), [web]);
    await assert.rejects(
      () => node.lab.add(alone),
      refused(CNI_CODE.INVALID_CONFIG, /^must be called as chained plugin/),
    );
  });

  test('without ports leaves a fresh node as it is', async () => {
    using node = new PortLab();
    await node.lab.add(call(node.pod(2), []));
    assert.equal(node.host.run('nft', 'list', 'ruleset'), '');
  });

  test('twice is once', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(call(pod, [web, web]));
    const once = node.lab.hostState();
    await node.lab.add(call(pod, [web]));
    assert.equal(node.lab.hostState(), once);
  });

  test('with other ports replaces those from before', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(call(pod, [web]));
    await node.lab.add(call(pod, [{ ...web, hostPort: 9090 }]));
    assert.doesNotMatch(node.lab.hostState(), /8080/);
    assert.match(node.lab.hostState(), /tcp \. 9090/);
  });

  test('one container port may have two host ports, one host port not two container ports', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(
      call(pod, [
        { ...web, containerPort: 4443, hostPort: 443 },
        { ...web, containerPort: 4443, hostPort: 4443 },
      ]),
    );
    assert.match(node.lab.hostState(), /tcp \. 443 .*10\.77\.0\.2 \. 4443/);
    await assert.rejects(
      () => node.lab.add(call(pod, [web, { ...web, containerPort: 81 }])),
      refused(CNI_CODE.INVALID_CONFIG, /host port 8080\/tcp is mapped twice, to port 80 and to port 81/),
    );
  });

  test('200 ports, SCTP among them', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    const many = Array.from({ length: 200 }, (_, n) => ({
      ...web,
      hostPort: 20_000 + n,
      protocol: n % 2 ? 'sctp' : 'TCP',
    }));
    await node.lab.add(call(pod, many));
    await node.lab.check(call(pod, many));
    assert.match(node.lab.hostState(), /sctp \. 20199/);
    await node.lab.del(call(pod, many));
    assert.deepEqual(elements(node), []);
  });

  test('that fails, wherever it does, leaves nothing', async (t) => {
    using node = new PortLab();
    const pod = node.pod(2);
    const request = call(pod, [web, { ...web, protocol: 'udp' }]);
    await node.lab.add(request);
    await node.lab.del(request);
    const clean = node.lab.hostState();
    const steps: string[] = [];
    for (let at = 1; ; at++) {
      node.host.run('sysctl', '-qw', 'net.ipv4.conf.br0.route_localnet=0');
      const sabotage = new Sabotage(at);
      const wrap = (session: KernelSession) => sabotage.wrap(session);
      const { exitCode, stderr } = await node.lab.run({ ...request, command: 'ADD', wrap });
      if (sabotage.failed === undefined) break;
      steps.push(sabotage.failed);
      if (exitCode === 0) {
        // Without it, old connections go on: a warning.
        assert.match(stderr, /old UDP connections/, sabotage.failed);
        await node.lab.del(request);
      }
      assert.equal(node.lab.hostState(), clean, `request ${at}, ${sabotage.failed}`);
    }
    t.diagnostic(`failed at each of: ${steps.join(', ')}`);
    for (const step of ['nft.commit', 'routes.lookup', 'sysctl.write']) assert.ok(steps.includes(step), step);
  });

  test('builds its rules again after a flush, and pods from before are reachable again', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(call(pod, [web]));
    const whole = node.lab.hostState();
    node.host.run('nft', 'flush', 'table', 'inet', 'heddle');
    await assert.rejects(
      () => node.lab.check(call(pod, [web])),
      refused(CNI_CODE.DRIFT, /missing the rules of table inet heddle/),
    );
    const other = node.pod(3);
    await node.lab.add(call(other, [{ ...web, hostPort: 8081 }]));
    await node.lab.check(call(pod, [web]));
    await node.lab.del(call(other, []));
    assert.equal(rules(node.lab.hostState()), rules(whole));
  });
});

describe('a port that is taken', () => {
  const portsOf = (pod: Pod) => call(pod, [web]);

  test('is refused with the name of its holder', async () => {
    using node = new PortLab();
    await node.lab.add(portsOf(node.pod(2)));
    await assert.rejects(
      () => node.lab.add(portsOf(node.pod(3))),
      refused(
        CNI_CODE.EXISTS,
        /^host port 8080\/tcp is published already: container c2, interface eth0 of network net1 has it, at 10\.77\.0\.2/,
      ),
    );
    assert.deepEqual([...new Set(elements(node))], ['c2']);
  });

  test('on one address does not take the others', async () => {
    using node = new PortLab();
    await node.lab.add(call(node.pod(2), [{ ...web, hostIP: '192.0.2.1' }]));
    await node.lab.add(
      call(node.pod(3), [
        { ...web, hostIP: '10.77.0.1' },
        { ...web, hostIP: '::' },
      ]),
    );
    await node.lab.add(call(node.pod(4), [{ ...web, hostIP: '0.0.0.0' }]));
    await assert.rejects(
      () => node.lab.add(call(node.pod(5), [{ ...web, hostIP: '192.0.2.1' }])),
      refused(CNI_CODE.EXISTS, /192\.0\.2\.1 8080\/tcp/),
    );
  });

  test('is taken over when its holder has no link any more', async () => {
    using node = new PortLab();
    const [gone, next] = [node.pod(2), node.pod(3)];
    for (const pod of [gone, next]) nameOwner(node, pod);
    await node.lab.add(portsOf(gone));
    node.host.run('ip', 'link', 'delete', 'veth2-c2');
    await node.lab.add(portsOf(next));
    assert.doesNotMatch(node.lab.hostState(), /8080 .*10\.77\.0\.2/);
    assert.match(node.lab.hostState(), /8080 .*10\.77\.0\.3 \. 80/);
    await node.lab.gc({ type: 'portmap' }, [{ containerID: 'c3', ifname: 'eth0' }]);
    assert.deepEqual([...new Set(elements(node))], ['c3']);
    await node.lab.check(portsOf(next));
  });

  test('is not taken over while any link may lead to its holder', async () => {
    using node = new PortLab();
    const [holder, next] = [node.pod(2), node.pod(3)];
    nameOwner(node, next);
    await node.lab.add(portsOf(holder));
    await assert.rejects(() => node.lab.add(portsOf(next)), refused(CNI_CODE.EXISTS, /container c2/));
    nameOwner(node, holder);
    await assert.rejects(() => node.lab.add(portsOf(next)), refused(CNI_CODE.EXISTS, /container c2/));
  });

  test('is taken over when the network of its holder is gone', async () => {
    using node = new PortLab();
    const [holder, next] = [node.pod(2), node.pod(3)];
    await node.lab.add(portsOf(holder));
    node.host.run('ip', 'link', 'delete', 'br0');
    const prevResult = { cniVersion: '1.1.0', ips: [{ address: '198.51.100.3/24' }] };
    await node.lab.add({ ...portsOf(next), prevResult });
    assert.match(node.lab.hostState(), /8080 .*198\.51\.100\.3 \. 80/);
  });

  test('goes with the address: whoever gets it next publishes, or does not, as they are asked', async () => {
    using node = new PortLab();
    await node.lab.add(portsOf(node.pod(2)));
    const result = { cniVersion: '1.1.0', ips: [{ address: '10.77.0.2/24' }] };
    await node.lab.add({
      config: { type: 'portmap' },
      container: node.lab.container('heir'),
      prevResult: result,
    });
    assert.doesNotMatch(node.lab.hostState(), /10\.77\.0\.2 \. 80/);
    assert.match(node.lab.hostState(), /fd77::2 \. 80/);
  });

  test('stays with the interface of a container that had it first', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(portsOf(pod));
    const second = {
      ...call(pod, [web], { name: 'net2' }),
      ifName: 'eth1',
      prevResult: { cniVersion: '1.1.0', ips: [{ address: '10.88.0.2/24' }] },
    };
    await node.lab.add(second);
    await node.lab.check(second);
    assert.match(node.lab.hostState(), /8080 .*10\.77\.0\.2 \. 80/);
    await node.lab.del(second);
    await node.lab.check(portsOf(pod));
  });
});

describe('DEL', () => {
  test('needs nothing but the names, and can be repeated', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(call(pod, [web], { conditionsV6: ['iifname', 'up0'] }));
    await node.lab.del(call(pod, [web]));
    const clean = node.lab.hostState();
    await node.lab.add(call(pod, [web], { conditionsV6: ['iifname', 'up0'] }));
    assert.notEqual(node.lab.hostState(), clean);
    const bare = { config: { type: 'portmap' }, container: { id: 'c2' }, netns: '' };
    for (let n = 0; n < 3; n++) await node.lab.del(bare);
    assert.equal(node.lab.hostState(), clean);
  });

  test('is not stopped by mappings that make no sense', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(call(pod, [web]));
    await node.lab.del(call(pod, [{ ...web, hostPort: 0, protocol: 'icmp' }]));
    assert.deepEqual(elements(node), []);
  });

  test('takes only what is of its own interface', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(call(pod, [web]));
    await node.lab.del({ ...call(pod, [web]), ifName: 'eth1' });
    await node.lab.check(call(pod, [web]));
  });

  test('finds its own although the network has another name by now', async () => {
    using node = new PortLab();
    const [first, second] = [node.pod(2), node.pod(3)];
    await node.lab.add(call(first, [web], { name: 'before' }));
    await node.lab.del(call(first, [web], { name: 'after' }));
    assert.deepEqual(elements(node), []);
    await node.lab.add(call(second, [web], { name: 'after' }));
    await node.lab.check(call(second, [web], { name: 'after' }));
  });
});

describe('CHECK', () => {
  for (const [what, command, text] of [
    ['a mapping', 'delete element inet heddle ports4 { tcp . 8080 }', /missing element ports4 tcp \. 8080/],
    ['a mapping of IPv6', 'delete element inet heddle ports6 { tcp . 8080 }', /missing element ports6/],
    [
      'masquerading',
      'delete element inet heddle port_return4 { 127.0.0.0/8 . 10.77.0.2 }',
      /missing element port_return4/,
    ],
    ['the table', 'delete table inet heddle', /missing the rules of table inet heddle; element/],
  ] as const) {
    test(`misses ${what}`, async () => {
      using node = new PortLab();
      const pod = node.pod(2);
      await node.lab.add(call(pod, [web]));
      await node.lab.check(call(pod, [web]));
      node.host.run('nft', ...command.split(' '));
      await assert.rejects(() => node.lab.check(call(pod, [web])), refused(CNI_CODE.DRIFT, text));
    });
  }

  test('sees a mapping that leads elsewhere', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.lab.add(call(pod, [web]));
    node.host.run('nft', 'delete', 'element', 'inet', 'heddle', 'ports4', '{ tcp . 8080 }');
    node.host.run('nft', 'add', 'element', 'inet', 'heddle', 'ports4', '{ tcp . 8080 : 10.77.0.9 . 80 }');
    await assert.rejects(() => node.lab.check(call(pod, [web])), refused(CNI_CODE.DRIFT, /ports4/));
  });

  test('needs the result', async () => {
    using node = new PortLab();
    const { prevResult: _, ...request } = call(node.pod(2), [web]);
    await assert.rejects(
      () => node.lab.check(request),
      refused(CNI_CODE.INVALID_CONFIG, /^Required prevResult missing/),
    );
  });
});

describe('GC', () => {
  test('takes what is stale: not the valid, not the unfinished, not the other networks', async () => {
    using node = new PortLab();
    const add = (number: number, more: object = {}) =>
      node.lab.add(call(node.pod(number), [{ ...web, hostPort: 8000 + number }], more));
    await add(2);
    await add(3, { conditionsV4: ['iifname', 'up0'] });
    await add(4);
    await add(5, { name: 'net2' });
    {
      using _mark = node.lab.inflight.begin(
        tagKey(ownerTag({ network: 'net1', containerID: 'c4', ifName: 'eth0' })),
      );
      await node.lab.gc({ type: 'portmap' }, [{ containerID: 'c2', ifname: 'eth0' }]);
    }
    assert.deepEqual([...new Set(elements(node))].sort(), ['c2', 'c4', 'c5']);
    await node.lab.gc({ type: 'portmap' }, []);
    assert.deepEqual([...new Set(elements(node))], ['c5']);
  });

  test('on a fresh node finds nothing to do', async () => {
    using node = new PortLab();
    await node.lab.gc({ type: 'portmap' }, []);
    assert.equal(node.host.run('nft', 'list', 'ruleset'), '');
  });
});

test('STATUS is well on this kernel, and looks at the configuration', async () => {
  using node = new PortLab();
  await node.lab.status({ type: 'portmap' });
  await node.lab.status({ type: 'portmap', backend: 'iptables' });
  await assert.rejects(
    () => node.lab.status({ type: 'portmap', backend: 'ipfw' }),
    refused(CNI_CODE.INVALID_CONFIG, /unrecognized backend/),
  );
});

function nameOwner(node: PortLab, { container }: Pod): void {
  const alias = ownerAlias({ network: 'net1', containerID: container.id, ifName: 'eth0' });
  node.host.run('ip', 'link', 'set', `veth${container.id.slice(1)}-${container.id}`, 'alias', alias);
}

/** The rules of a listing, without what the sets hold. */
function rules(state: string): string {
  return state
    .split('\n')
    .filter((line) => /dnat|masquerade|return|jump|drop/.test(line))
    .join('\n');
}
