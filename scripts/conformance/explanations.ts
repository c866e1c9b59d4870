/** What is behind failures of the reference's plugins: each was looked at, and is no artefact of the kit. */

/** An explanation for a check, or for several whose ids begin alike. */
interface Explanation {
  /** All plugins when left out. */
  readonly plugins?: readonly string[];
  /** The id of a check, or its beginning. */
  readonly check: string;
  readonly text: string;
}

const EXPLANATIONS: readonly Explanation[] = [
  {
    plugins: ['heddle'],
    check: 'runtime/no-capabilities-member',
    text: 'It does as libcni does, so that a plugin finds the same under either.',
  },
  {
    check: 'runtime/no-capabilities-member',
    text: 'libcni, which it is built on, leaves the member in the configuration.',
  },
  {
    plugins: ['cnitool'],
    check: 'runtime/gc-list',
    text: 'cnitool gives libcni no list, and libcni then hands none on. What it takes down itself, by DEL, is what its cache holds.',
  },
  {
    plugins: ['podman'],
    check: 'runtime/failed-del',
    text: 'Podman writes the failure to its log, ends with 0 and forgets the container: there is nothing left to repeat.',
  },
  {
    plugins: ['containerd'],
    check: 'runtime/failed-del',
    text: '`ctr` writes the failure to its log and ends with 0: there is nothing left to repeat.',
  },
  {
    plugins: ['containerd'],
    check: 'runtime/del-order',
    text: 'Order and previous result are as they should be; but `ctr` takes the network down when the process is gone, and gives an empty CNI_NETNS.',
  },
  {
    check: 'contract/version-echo',
    text: 'The skeleton of the plugins does not read stdin for VERSION, and answers in the newest version that its library knows.',
  },
  {
    check: 'contract/error-version',
    text: 'The error object of the library has no member `cniVersion`.',
  },
  {
    check: 'contract/own-netns',
    text: 'Releases that compare the two namespaces do so after the work is done: the interface is made, the result is on stdout, and the error follows it. Release 1.1.1 does not compare.',
  },
  {
    check: 'contract/result-0',
    text: 'The plugin lists this version, but cannot work with what a result of this version can say.',
  },
  {
    plugins: ['bridge'],
    check: 'interface/only-its-own',
    text: 'The chain for masquerading is named after network and container, not after the interface: DEL of one interface removes the chain that the rules of the other one still jump to, and iptables refuses.',
  },
  {
    plugins: ['ptp'],
    check: 'interface/only-its-own',
    text: 'There is no second interface to take away: see interface/second-interface.',
  },
  { check: 'interface/previous-result', text: 'The plugin does not look at a previous result.' },
  {
    check: 'idempotence/del-without-netns-mount',
    text: 'A path that exists and is no namespace is an error, and nothing is taken down.',
  },
  {
    plugins: ['bridge', 'ptp'],
    check: 'idempotence/del-without',
    text: 'DEL learns the addresses from the interface in the container. When it is gone, or not named, the rules for masquerading stay.',
  },
  {
    check: 'idempotence/del-with-broken-config',
    text: 'DEL reads the configuration as strictly as ADD does.',
  },
  {
    check: 'check/notices-firewall-rules',
    text: 'CHECK does not look at the rules for masquerading.',
  },
  {
    check: 'check/tolerates-routes',
    text: 'CHECK looks for the routes of the result in the main table only, whatever table the result names.',
  },
  {
    check: 'check/tolerates-additions',
    text: "CHECK takes every address of the result for one of the plugin's own, whatever interface the result says it is on.",
  },
  { check: 'check/link-down', text: 'CHECK does not look at the state of the interface.' },
  {
    plugins: ['host-local'],
    check: 'gc/without-a-list',
    text: 'A list that is missing counts as one that is empty, and every reservation of the network is freed.',
  },
  {
    check: 'gc/',
    text: 'The plugin does not implement GC: it succeeds and does nothing.',
  },
  { check: 'delegation/forwards-gc', text: 'GC is not forwarded.' },
  { check: 'delegation/failed-gc', text: 'GC is not forwarded, so its failure is not seen.' },
  {
    check: 'delegation/failed-add-del',
    text: 'DEL of the delegate is run only when something fails after its ADD has succeeded.',
  },
  {
    check: 'delegation/failed-add-leaves-nothing',
    text: 'A failed ADD leaves the pair of links to the DEL that runtimes are to send.',
  },
  {
    check: 'delegation/failed-del-goes-on',
    text: 'DEL stops at the failure of the delegate, and the rest stays: the rules for masquerading, and the link where that comes later.',
  },
  {
    plugins: ['bridge'],
    check: 'concurrency/first-of-all',
    text: "The bridge's hardware address is read for the result before it is pinned, and changes when other ports join: CHECK compares it, and fails for good.",
  },
  {
    plugins: ['bridge'],
    check: 'contract/hostile-input',
    text: 'An ADD that fails leaves a bridge without an address of its own; the next one cannot pin it, and the DEL after that fails for a chain that was never made.',
  },
  {
    plugins: ['tuning'],
    check: 'idempotence/del-without',
    text: 'DEL removes the backup of the interface only after it has restored the interface. When that is gone, the file stays.',
  },
  {
    plugins: ['tuning'],
    check: 'limits/',
    text: 'The backup that an ADD without room has begun is still there after DEL.',
  },
  {
    plugins: ['portmap'],
    check: 'concurrency/same-container',
    text: 'Each DEL looks whether the chain is there and then flushes it; another one may have deleted it in between.',
  },
  {
    plugins: ['bridge'],
    check: 'crash/add',
    text: 'An ADD that is killed before it masquerades has made the interface, and so its DEL deletes the rules of its addresses. iptables 1.8.9 ends with 2 because their chain was never made; the plugin forgives only 1, and the DEL fails each time.',
  },
  {
    plugins: ['bridge'],
    check: 'crash/del',
    text: 'DEL reads from the interface which addresses were masqueraded. The one after a DEL that was killed when it had deleted the interface finds no address, and the rules stay.',
  },
  {
    plugins: ['tuning'],
    check: 'crash/add',
    text: 'The backup is written under its final name. DEL cannot read one that was cut off, and leaves it.',
  },
  {
    plugins: ['bridge', 'ptp'],
    check: 'crash/del',
    text: 'DEL takes the interface away before the rules for masquerading. Killed in between, the next one no longer learns the addresses, and the rules stay; GC does not take them away either.',
  },
  {
    plugins: ['bridge'],
    check: 'crash/add',
    text: 'ADD is killed before it has made the chain for masquerading. DEL removes the rule that would lead there, and iptables refuses to name a chain that is not there.',
  },
  {
    plugins: ['tuning'],
    check: 'crash/add',
    text: 'The backup that a killed ADD has begun is still there after DEL.',
  },
  {
    plugins: ['ptp'],
    check: 'interface/second-interface',
    text: 'The host end of every pair gets the gateway, and the container a route to it by its own end: the second interface would need the same route once more.',
  },
  { check: 'ipam/try-again', text: 'An exhausted pool has no code of its own: it is 999.' },
  { check: 'status/exhausted', text: 'STATUS does not look at the pool.' },
  {
    plugins: ['tuning'],
    check: 'chained/undoes',
    text: 'What was changed about the interface is changed back, kernel parameters are not.',
  },
  {
    plugins: ['tuning'],
    check: 'leaks/container',
    text: 'What was changed about the interface is changed back, kernel parameters are not.',
  },
];

/** @throws {Error} for a failure that nobody has looked at */
export function explanationOf(plugin: string, id: string): string {
  const found = EXPLANATIONS.find(
    ({ plugins, check }) => id.startsWith(check) && (plugins?.includes(plugin) ?? true),
  );
  if (found !== undefined) return found.text;
  throw new Error(`${plugin} fails ${id}: look at it, and write down what is behind it`);
}
