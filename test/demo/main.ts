/**
 * The demo: a node in a private network namespace, two pods on it, traffic between them and from outside, and
 * the proof that nothing is left; then a cluster of three nodes, one of which is cut off and comes back.
 */
import { buildCommand } from '../../scripts/build-command.ts';
import { buildShim } from '../../scripts/build-shim.ts';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { difference } from '../../scripts/host-snapshot.ts';
import { enterSandbox } from '../../scripts/sandbox.ts';
import { showCluster } from './cluster.ts';
import { stateOfNode } from './node-state.ts';
import { chapter, expectFailure, quietly, run, say } from './stage.ts';
import { fetchFrom, serveIn } from './web.ts';

const NETWORK = 'heddle';
const CAP_ARGS = JSON.stringify({ portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] });

buildStandalone();
buildShim();
buildCommand();
enterSandbox();

chapter(
  '1. A node',
  'Everything from here on happens in a network namespace of its own; the machine is not touched.\nThe plugins are installed, and a first network with them:',
);
run(['heddle', 'install']);
say(
  '\nA container runtime makes a namespace for each pod. Here are two, and a host elsewhere on the network:',
);
for (const name of ['web', 'client', 'elsewhere']) run(['ip', 'netns', 'add', name]);
connectElsewhere();
// What stays on a node by design, such as the bridge, is there after the first pod.
quietly('heddle', 'add', NETWORK, 'web');
quietly('heddle', 'del', NETWORK, 'web');
const before = await stateOfNode();

chapter(
  '2. Attach',
  'For each pod the runtime runs the chain of plugins: bridge makes the interface, host-local chooses the\naddresses, portmap publishes ports of the node. The pod "web" gets port 8080.',
);
const told = (line: string) => /"(address|name|sandbox)"/.test(line);
run(['heddle', 'add', NETWORK, 'web'], { show: told, env: { CAP_ARGS } });
run(['heddle', 'add', NETWORK, 'client'], { show: told });
say('\nWho is attached:');
run(['heddle', 'ls']);

chapter(
  '3. Traffic',
  'Pod to pod over IPv4 and IPv6; then from elsewhere to the port that the node publishes for a pod.',
);
const listed = quietly('ip', '-n', 'web', '-o', 'address', 'show', 'dev', 'eth0', 'scope', 'global');
for (const [, address = ''] of listed.matchAll(/inet6? ([^/]+)/g)) {
  const show = (line: string) => line.includes('bytes from');
  run(['ip', 'netns', 'exec', 'client', 'ping', '-c', '1', '-W', '2', address], { show });
}
{
  using _server = await serveIn('web', 80, 'hello from the pod "web"');
  say(
    `\n  elsewhere asks http://198.51.100.1:8080/ and hears: ${await fetchFrom('elsewhere', 'http://198.51.100.1:8080/')}`,
  );
}

chapter(
  '4. Check',
  'Is an attachment still as it was set up? Yes; until somebody deletes a route inside the pod:',
);
run(['heddle', 'check', NETWORK, 'web'], { env: { CAP_ARGS } });
run(['ip', '-n', 'web', 'route', 'del', 'default']);
expectFailure(['heddle', 'check', NETWORK, 'web'], { env: { CAP_ARGS } });

chapter('5. Detach', 'Both pods go, and what they had on the node goes with them.');
run(['heddle', 'del', NETWORK, 'web'], { env: { CAP_ARGS } });
run(['heddle', 'del', NETWORK, 'client']);
run(['heddle', 'ls']);
const changed = difference(before, await stateOfNode());
if (changed.length > 0) throw new Error(`something was left behind:\n${changed.join('\n')}`);
say(
  '\nNothing is left of the pods: links, addresses, routes, nftables elements and files are as before them.',
);
say('What stays is shared by all pods by design: the bridge heddle0 with its gateway addresses, the empty');
say('nftables table "inet heddle", IP forwarding, and the marks of the last address given out.');

await showCluster();
say('\nNext: README.md, or npm run heddle -- --help\n');

function connectElsewhere(): void {
  quietly('ip', 'link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', 'elsewhere');
  quietly('ip', 'address', 'add', '198.51.100.1/24', 'dev', 'uplink');
  quietly('ip', 'link', 'set', 'uplink', 'up');
  quietly('ip', '-n', 'elsewhere', 'address', 'add', '198.51.100.2/24', 'dev', 'eth0');
  quietly('ip', '-n', 'elsewhere', 'link', 'set', 'eth0', 'up');
}
