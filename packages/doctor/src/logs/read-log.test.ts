/** Failures as the kubelet, containerd, CRI-O, Podman and the kernel word them. The lines are written for this test. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RULES } from '../rules.ts';
import { MESSAGES } from './messages.ts';
import { readLog } from './read-log.ts';

const read = (...lines: readonly string[]) => readLog(lines, { file: '/var/log/x', rules: RULES });

/** A line of the kubelet, through containerd, about a plugin's failure. */
const kubelet = (failure: string) =>
  `E1130 06:00:00.000001    1234 pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \\"CreatePodSandbox\\" for \\"web-0_default(5d1f)\\" with CreatePodSandboxError: \\"Failed to create sandbox for pod \\\\\\"web-0_default(5d1f)\\\\\\": rpc error: code = Unknown desc = failed to setup network for sandbox \\\\\\"3f2c00000000aaaabbbb\\\\\\": ${failure}\\"" pod="default/web-0" podUID="5d1f"`;
const crio = (failure: string) =>
  `time="2026-11-30 06:00:00.0Z" level=error msg="Error adding pod default_web-0 to CNI network \\"podnet\\": ${failure}"`;
const podman = (failure: string) => `Error: unable to start container "1f2e": ${failure}`;

const CASES: readonly (readonly [line: string, id: string, what: RegExp])[] = [
  [
    kubelet(
      'plugin type=\\"bridge\\" failed (add): failed to find plugin \\"bridge\\" in path [/opt/cni/bin]',
    ),
    'program/missing',
    /plugin bridge is not installed in \/opt\/cni\/bin/,
  ],
  [
    crio('plugin type=\\"x\\" failed (add): fork/exec /opt/cni/bin/x: exec format error'),
    'program/unusable',
    /another processor.*\/opt\/cni\/bin\/x/,
  ],
  [
    podman('plugin type="x" failed (add): fork/exec /usr/lib/cni/x: permission denied'),
    'program/unusable',
    /\/usr\/lib\/cni\/x cannot be started: permission denied/,
  ],
  [
    kubelet(
      'plugin type=\\"bridge\\" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.0.1-10.244.0.254',
    ),
    'pool/exhausted',
    /pool are held 10\.244\.0\.1-10\.244\.0\.254/,
  ],
  [
    kubelet(
      'plugin type=\\"aws-cni\\" name=\\"aws-cni\\" failed (add): add cmd: failed to assign an IP address to container',
    ),
    'pool/exhausted',
    /no address could be had/,
  ],
  [
    kubelet(
      'plugin type=\\"host-local\\" failed (add): failed to allocate for range 0: 10.244.0.7 has been allocated to 3f2c, duplicate allocation is not allowed',
    ),
    'pool/leaked',
    /10\.244\.0\.7/,
  ],
  [
    kubelet(
      'plugin type=\\"flannel\\" failed (add): loadFlannelSubnetEnv failed: open /run/flannel/subnet.env: no such file or directory',
    ),
    'network/daemon-absent',
    /flanneld has not come up/,
  ],
  [
    kubelet(
      'plugin type=\\"calico\\" failed (add): stat /var/lib/calico/nodename: no such file or directory: check that the calico/node container is running and has mounted /var/lib/calico/',
    ),
    'network/daemon-absent',
    /calico-node has not come up/,
  ],
  [
    kubelet(
      'plugin type=\\"cilium-cni\\" failed (add): unable to connect to Cilium daemon: failed to create cilium agent client after 30.0 seconds timeout: Get \\"http://localhost/v1/config\\": dial unix /var/run/cilium/cilium.sock: connect: no such file or directory',
    ),
    'network/daemon-absent',
    /\/var\/run\/cilium\/cilium\.sock does not run/,
  ],
  [
    kubelet(
      'plugin type=\\"weave-net\\" failed (add): unable to allocate IP address: Post \\"http://127.0.0.1:6784/ip/3f2c\\": dial tcp 127.0.0.1:6784: connect: connection refused',
    ),
    'network/daemon-absent',
    /Weave Net router/,
  ],
  [
    kubelet(
      'plugin type=\\"calico\\" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized',
    ),
    'log/api-server',
    /refuses the plugin/,
  ],
  [
    kubelet(
      'plugin type=\\"multus\\" failed (add): Multus: error getting pod: Get \\"https://10.96.0.1:443/api/v1/namespaces/default/pods/web-0\\": dial tcp 10.96.0.1:443: i/o timeout',
    ),
    'log/api-server',
    /10\.96\.0\.1:443/,
  ],
  [
    kubelet(
      'plugin type=\\"calico\\" failed (add): error: open /etc/cni/net.d/calico-kubeconfig: permission denied',
    ),
    'directory/credentials',
    /calico-kubeconfig: permission denied/,
  ],
  [
    podman(
      'plugin type="bridge" failed (add): incompatible CNI versions; config is "1.0.0", plugin supports ["0.1.0" "0.4.0"]',
    ),
    'program/version',
    /version 1\.0\.0.*0\.4\.0/,
  ],
  [
    'time="2026-11-30T06:00:00Z" level=warning msg="Error validating CNI config file /etc/cni/net.d/87-podman.conflist: [plugin firewall does not support config version \\"1.0.0\\"]"',
    'program/version',
    /firewall does not speak version 1\.0\.0/,
  ],
  [
    'time="2026-11-30T06:00:00Z" level=error msg="error loading CNI config file /etc/cni/net.d/10-x.conf: error parsing configuration: missing \'type\'"',
    'syntax/invalid',
    /10-x\.conf is no valid configuration/,
  ],
  [
    'kubelet: "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"',
    'network/none',
    /no usable network configuration/,
  ],
  [
    kubelet('plugin type=\\"bridge\\" failed (add): container veth name provided (eth0) already exists'),
    'log/name-taken',
    /eth0 is there already/,
  ],
  [
    kubelet(
      'plugin type=\\"flannel\\" failed (add): failed to delegate add: failed to set bridge addr: \\"cni0\\" already has an IP address different from 10.244.1.1/24',
    ),
    'log/bridge-address',
    /cni0 has another address than 10\.244\.1\.1\/24/,
  ],
  [
    podman(
      'plugin type="portmap" failed (add): cannot open hostport 8080 for pod web: listen tcp4 :8080: bind: address already in use',
    ),
    'log/port-taken',
    /host port/,
  ],
  [
    kubelet(
      'plugin type=\\"portmap\\" failed (add): unable to create chain CNI-HOSTPORT-DNAT: Another app is currently holding the xtables lock. Stopped waiting after 5s.',
    ),
    'log/iptables',
    /waited in vain/,
  ],
  [
    kubelet(
      'plugin type=\\"firewall\\" failed (add): failed to locate iptables: exec: \\"iptables\\": executable file not found in $PATH',
    ),
    'log/iptables',
    /program iptables is not installed/,
  ],
  [
    kubelet('plugin type=\\"ipvlan\\" failed (add): failed to create ipvlan: operation not supported'),
    'log/kernel-support',
    /kernel does not know/,
  ],
  [
    kubelet(
      'plugin type=\\"bridge\\" failed (delete): failed to open netns \\"/var/run/netns/cni-1\\": unknown FS magic on \\"/var/run/netns/cni-1\\": 1021994',
    ),
    'log/namespace',
    /\/var\/run\/netns\/cni-1 is not there/,
  ],
  [
    podman('failed to unmarshal cached network "podman" config: unexpected end of JSON input'),
    'log/cache-damaged',
    /empty or cut off/,
  ],
  [
    kubelet(
      'plugin type=\\"bridge\\" failed (add): open /var/lib/cni/networks/podnet/10.1.0.2: no space left on device',
    ),
    'log/disk',
    /disk is full/,
  ],
  [
    kubelet('plugin type=\\"bridge\\" failed (add): mkdir /var/lib/cni/networks/podnet: permission denied'),
    'directory/unusable',
    /\/var\/lib\/cni\/networks\/podnet cannot be used: permission denied/,
  ],
  [
    'kernel: audit: type=1400 audit(1:2): apparmor="DENIED" operation="open" profile="x" name="/etc/cni/net.d/" comm="bridge"',
    'directory/denied',
    /security module/,
  ],
  [
    'kernel: nf_conntrack: nf_conntrack: table full, dropping packet',
    'kernel/conntrack-full',
    /table of tracked connections is full/,
  ],
  [
    'kernel: IPv6: eth0: IPv6 duplicate address fd45::2 used by 02:00:00:00:00:01 detected!',
    'address/duplicate',
    /fd45::2 too/,
  ],
  [
    kubelet('plugin type=\\"x\\" failed (add): netplugin failed with no error message: signal: killed'),
    'log/no-reason',
    /killed or crashed signal: killed$/,
  ],
  [
    kubelet(
      'plugin type=\\"x\\" failed (add): netplugin failed but error parsing its diagnostic message \\"level=info\\": invalid character \'l\'',
    ),
    'log/no-reason',
    /printed no error of CNI/,
  ],
  [
    'kubelet: "StopPodSandbox from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" podSandboxID="3f2c" network teardown of sandbox',
    'log/timeout',
    /took too long/,
  ],
  [
    crio('plugin type=\\"acme\\" failed (add): the flux is not stable'),
    'log/unknown',
    /acme the flux is not stable/,
  ],
];

describe('a log', () => {
  for (const [line, id, what] of CASES) {
    test(`${id}: ${what.source}`, () => {
      const [first, ...others] = read('nothing of interest', line);
      assert.equal(first?.id, id);
      assert.match(first?.what ?? '', what);
      assert.doesNotMatch(`${first?.what} ${first?.remedy}`, /[{}]|undefined/);
      assert.equal(first?.place?.line, 2);
      assert.deepEqual(others, []);
    });
  }

  test('tells each kind once, with how often and for whom', () => {
    const line = (pod: string) =>
      kubelet('no IP addresses available in range set: 10.1.0.1-10.1.0.6').replaceAll('web-0', pod);
    const [finding, ...others] = read(line('a'), 'x', line('b'), line('a'));
    assert.deepEqual(others, []);
    assert.deepEqual(finding?.evidence, ['3 times, last in line 4', 'for pod default/a, pod default/b']);
  });

  test('with nothing of CNI in it has nothing to tell', () => {
    const quiet = [
      'I1130 06:00:00 kubelet: "SyncLoop ADD" source="api" pods=["default/web-0"]',
      'time="2026-11-30T06:00:00Z" level=info msg="RunPodSandbox for &PodSandboxMetadata{Name:web-0,} returns sandbox id"',
      'kernel: cni0: port 1(veth0a1b2c3d) entered forwarding state',
      'dockerd: API listen on /run/docker.sock',
      'systemd: Started Session 5 of User root.',
      'connect to 10.0.0.1 port 22: Connection timed out',
      '',
    ];
    assert.deepEqual(read(...quiet), []);
  });

  test('leads to a rule that there is, from every message', () => {
    for (const { id } of MESSAGES) assert.ok(RULES.has(id), id);
  });
});

test('what fails in the same words and is no matter of networks is passed over', () => {
  for (const line of [
    'E1130 "Failed to pull image" err="write /var/lib/containerd/x: no space left on device" image="docker.io/x/cni:1"',
    'app[1]: open /data/x: too many open files',
    'udisksd[1]: device sda1 already exists',
    'E1130 reflector.go:147] Failed to watch *v1.Pod: Get "https://10.0.0.1:6443/api/v1/pods": dial tcp 10.0.0.1:6443: connect: connection refused',
    'E1130 Unable to authenticate the request: Unauthorized',
    'nginx: bind() to 0.0.0.0:80 failed (98: Address already in use)',
    'err="OCI runtime create failed: exec /app: exec format error: unknown" pod="default/x"',
    'dockerd: iptables failed: iptables -t nat -A DOCKER: iptables: No chain/target/match by that name.',
    'mount: /mnt: mount(2) system call failed: Operation not supported; operation not supported',
  ]) {
    assert.deepEqual(read(line), [], line);
  }
});

test('a pair of links that is there already is told of with its name', () => {
  const [finding] = read(
    kubelet(
      'plugin type=\\"bridge\\" failed (add): container veth name (\\"eth0\\") peer provided (\\"veth1\\") already exists',
    ),
  );
  assert.equal(finding?.id, 'log/name-taken');
  assert.match(finding?.what ?? '', /interface eth0 is there/);
});

test('of a long line the beginning and the end are read', () => {
  const failure =
    'plugin type="bridge" failed (add): no IP addresses available in range set: 10.0.0.1-10.0.0.9';
  for (const junk of [
    'x',
    'plugin type="',
    'https://a/',
    '/cni/',
    '\\',
    'k8s_',
    'network ',
    'duplicate address ',
  ]) {
    const long = junk.repeat(Math.ceil(250_000 / junk.length));
    for (const line of [`${failure} ${long}`, `${long} ${failure}`]) {
      assert.deepEqual(
        read(line).map(({ id }) => id),
        ['pool/exhausted'],
        junk,
      );
    }
  }
});
