/** Plugins with one fault each: the check that should find it does, and the plugin without the fault passes it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { buildCrash } from '../../../scripts/build-crash.ts';
import { checkPlugin } from './run.ts';
import { type Fault, ShellPlugin } from './testing/shell-plugin.ts';

buildCrash();

interface Faulty {
  readonly what: string;
  readonly base: 'ipam' | 'chained' | 'interface';
  readonly faults: readonly Fault[];
  /** The check that finds it, and a pattern of what it says. */
  readonly found: readonly [id: string, words: RegExp];
}

const FAULTY: readonly Faulty[] = [
  {
    ...{ what: 'prints a log line on stdout', base: 'ipam' },
    faults: [['    claim\n', '    echo "giving an address"\n    claim\n']],
    found: ['contract/only-the-result', /exactly one JSON object.*giving an address/],
  },
  {
    ...{ what: 'gives one address twice under load', base: 'ipam' },
    faults: [
      [
        'until ln -s "$key"',
        'until [ ! -e "$claims/$n.taken" ] && sleep 2 && : >"$claims/$n.taken" && ln -sf "$key"',
      ],
    ],
    found: ['concurrency/first-of-all', /addresses that all differ.*twice/],
  },
  {
    ...{ what: 'answers DEL with an error for a missing namespace', base: 'ipam' },
    faults: [['  DEL) release;;', `  DEL) [ -e "\${CNI_NETNS:-}" ] || fail 8 "no namespace"; release;;`]],
    found: ['idempotence/del-without-netns', /DEL to succeed.*no namespace/],
  },
  {
    ...{ what: 'answers the second DEL with an error', base: 'ipam' },
    faults: [['  DEL) release;;', '  DEL) [ -n "$(mine)" ] || fail 3 "unknown"; release;;']],
    found: ['idempotence/del-three-times', /DEL to succeed.*unknown/],
  },
  {
    ...{ what: 'never gives an address back', base: 'ipam' },
    faults: [['  DEL) release;;', '  DEL) ;;']],
    found: ['leaks/node', /as it was before ADD and DEL; got \+ file \/run\/kit-ipam/],
  },
  {
    ...{ what: 'names an interface of which it knows nothing', base: 'ipam' },
    faults: [
      ['"gateway":"10.230.0.1"}]', '"gateway":"10.230.0.1","interface":0}],"interfaces":[{"name":"eth0"}]'],
    ],
    found: ['ipam/abbreviated', /no interfaces/],
  },
  {
    ...{ what: 'gives an attachment a second address', base: 'ipam' },
    faults: [['  [ -z "$(mine)" ] || fail 101 \'it has a number\'\n', '']],
    found: ['ipam/no-second', /again, or an error/],
  },
  {
    ...{ what: 'gives the gateway away', base: 'ipam' },
    faults: [['  n=2\n', '  n=1\n']],
    found: ['ipam/sound-addresses', /an address that is not the gateway/],
  },
  {
    ...{ what: 'frees everything on GC', base: 'ipam' },
    faults: [['    is_valid "$owner" ||', '    false ||']],
    found: ['gc/keeps-the-valid', /on the node before GC; got \+ lost: file/],
  },
  {
    ...{ what: 'does nothing on GC', base: 'ipam' },
    faults: [['  GC) collect;;', '  GC) ;;']],
    found: ['gc/frees-the-stale', /before the stale container came; got \+ file/],
  },
  {
    ...{ what: 'does not tell interfaces apart on GC', base: 'ipam' },
    faults: [[' and .ifname == $name', '']],
    found: ['gc/by-interface', /before the second interface came; got \+ file/],
  },
  {
    ...{ what: 'takes a missing list for an empty one', base: 'ipam' },
    faults: [["    fail 7 'cni.dev/valid-attachments is missing'", '    :']],
    found: ['gc/without-a-list', /GC with the list undefined; got \+ lost: file/],
  },
  {
    ...{ what: 'collects for all networks', base: 'ipam' },
    faults: [['for each in "$claims"/*; do\n    [ -L', `for each in "\${claims%/*}"/*/*; do\n    [ -L`]],
    found: ['gc/other-networks', /before GC of another network; got \+ lost: file/],
  },
  {
    ...{ what: 'answers in a version of its own', base: 'ipam' },
    faults: [['printf \'{"cniVersion":"%s","ips"', 'version=1.0.0; printf \'{"cniVersion":"%s","ips"']],
    found: ['contract/result-1.1.0', /cniVersion: "1\.0\.0" in place of "1\.1\.0"/],
  },
  {
    ...{ what: 'ends with 0 whatever happens', base: 'ipam' },
    faults: [['"$1" "$2"\n  exit 1', '"$1" "$2"\n  exit 0']],
    found: ['contract/error-object', /an error for nonsense; got exit code 0/],
  },
  {
    ...{ what: 'says yes to every CHECK', base: 'ipam' },
    faults: [['  CHECK) [ -n "$(mine)" ] || fail 150 \'it has no address\';;', '  CHECK) ;;']],
    found: ['check/notices-reservations', /an error from CHECK after the loss of the files \/run\/kit-ipam/],
  },
  {
    ...{ what: 'takes any container ID for the name of a file', base: 'ipam' },
    faults: [
      ["*[!a-zA-Z0-9_.-]*) fail 4 'CNI_CONTAINERID is not valid';; esac", '*[!a-zA-Z0-9_.-]*) ;; esac'],
    ],
    found: ['contract/container-id', /an error for CNI_CONTAINERID "\.\.\/escape"/],
  },
  {
    ...{ what: 'reports that it is well on stdout', base: 'ipam' },
    faults: [['  STATUS) ;;\nesac\nexit 0', '  STATUS) echo ready;;\nesac\nexit 0']],
    found: ['contract/silent-status', /nothing on stdout; got ready/],
  },
  {
    ...{ what: 'does not say which variable is missing', base: 'ipam' },
    faults: [['fail 4 "$name is missing"', 'fail 4 "bad environment"']],
    found: ['contract/required-add', /an error that names CNI_CONTAINERID/],
  },
  {
    ...{ what: 'forgets the previous result', base: 'chained' },
    faults: [['    of_config -c .prevResult;;', "    of_config -c '{cniVersion, ips: .prevResult.ips}';;"]],
    found: ['chained/passes-on', /interfaces of the previous result.*these are lost/],
  },
  {
    ...{ what: 'does not undo on DEL', base: 'chained' },
    faults: [
      [
        `  DEL) [ -z "\${CNI_NETNS:-}" ] || is_own || inside ip link set "$CNI_IFNAME" txqueuelen 1000;;`,
        '  DEL) ;;',
      ],
    ],
    found: ['chained/undoes', /as it was before ADD and DEL; got - link eth0/],
  },
  {
    ...{ what: 'mends on CHECK, wrongly', base: 'chained' },
    faults: [['  CHECK) [', '  CHECK) inside ip link set "$CNI_IFNAME" mtu 1400; [']],
    found: ['check/changes-nothing', /as it was before CHECK; got - link eth0/],
  },
  {
    ...{ what: 'is content without a previous result', base: 'chained' },
    faults: [
      [
        "    of_config -e '.prevResult | type == \"object\"' >/dev/null || fail 7 'there is no previous result'\n",
        '',
      ],
    ],
    found: ['chained/needs-previous', /an error for ADD without a previous result; got exit code 0/],
  },
  {
    ...{ what: 'leaks a route', base: 'interface' },
    faults: [
      [
        '    address="10.231.0.$n/24"\n',
        '    address="10.231.0.$n/24"\n    ip route replace blackhole 198.51.100.$(($$ % 250))\n',
      ],
    ],
    found: ['leaks/many-rounds', /got \+ route 198\.51\.100|as it was/],
  },
  {
    ...{ what: 'takes the place of an interface that is there', base: 'interface' },
    faults: [
      [
        '    ! inside ip link show "$CNI_IFNAME" >/dev/null ||',
        '    inside ip link del "$CNI_IFNAME"; true ||',
      ],
    ],
    found: ['interface/taken-name', /an error for a name that is taken; got exit code 0/],
  },
  {
    ...{ what: 'says a hardware address that is not so', base: 'interface' },
    faults: [['sandbox: $netns}]', 'sandbox: $netns} | .mac = "02:00:00:00:00:01"]']],
    found: ['interface/true-interfaces', /with 02:00:00:00:00:01; got/],
  },
  {
    ...{ what: 'leaves its end of the pair after a failed ADD', base: 'interface' },
    faults: [
      ['    ! inside ip link show "$CNI_IFNAME" >/dev/null ||', '    true ||'],
      [
        '    ip link add "$here" type veth peer name "$CNI_IFNAME" netns "$CNI_NETNS"',
        '    ip link add "$here" type veth peer name "p$here"; inside ip link add "$CNI_IFNAME" type veth',
      ],
      ["|| take_back 110 'no link'", "|| fail 110 'no link'"],
    ],
    found: ['leaks/failed-add', /as it was before the failed ADD; got \+ link p?kp/],
  },
  {
    ...{ what: 'leaves a process behind', base: 'interface' },
    faults: [
      [
        '    address="10.231.0.$n/24"\n',
        '    address="10.231.0.$n/24"\n    sleep 60 >/dev/null 2>&1 </dev/null &\n',
      ],
    ],
    found: ['leaks/processes', /no process that was not there before/],
  },
  {
    ...{ what: 'does not list its end of the pair', base: 'interface' },
    faults: [
      ['[{name: $here, mac: $mac}, {name: $there', '[{name: $there'],
      ['(($links | length) + 1)', '($links | length)'],
    ],
    found: ['interface/complete', /no link but those of the result; got kp/],
  },
  {
    ...{ what: 'gives the interface an address more than it says', base: 'interface' },
    faults: [
      [
        '    case $version in 0.*)',
        '    inside ip address add 10.99.99.99/24 dev "$CNI_IFNAME"\n    case $version in 0.*)',
      ],
    ],
    found: ['interface/true-addresses', /10\.99\.99\.99/],
  },
  {
    ...{ what: 'keeps one interface of each container on GC', base: 'interface' },
    faults: [
      [
        'any(."cni.dev/valid-attachments"[]; .containerID == $id and .ifname == $name)',
        '([."cni.dev/valid-attachments"[] | select(.containerID == $id)] | .[0].ifname) == $name',
      ],
    ],
    found: ['gc/keeps-each-interface', /on the node before GC; got \+ lost: (file|link)/],
  },
  {
    ...{ what: 'says an empty hardware address', base: 'interface' },
    faults: [['sandbox: $netns}]', 'sandbox: $netns} | .mac = ""]']],
    found: ['interface/true-interfaces', /hardware addresses, or no member mac; got an empty one/],
  },
  {
    ...{ what: 'raises an alarm when somebody else adds an interface', base: 'interface' },
    faults: [
      [
        '    [ -n "$(mine)" ] ||',
        '    [ "$(inside ip -o link | wc -l)" = 2 ] || fail 150 "strange links"\n    [ -n "$(mine)" ] ||',
      ],
    ],
    found: ['check/tolerates-additions', /CHECK to succeed.*strange links/],
  },
  {
    ...{ what: 'leaves a draft behind when its ADD is killed', base: 'ipam' },
    faults: [
      ['  n=2\n', '  n=2\n  : >"$claims/$$.draft"\n'],
      ["is left'\n  done\n", 'is left\'\n  done\n  rm "$claims/$$.draft"\n'],
    ],
    found: ['crash/add', /as it was before .* a kill before call \d+, .*; got \+ file \S+\.draft/],
  },
  {
    ...{ what: 'gives its record up before the interface on DEL', base: 'interface' },
    faults: [['    gone "$key"\n    release;;', '    if [ -n "$(mine)" ]; then release; gone "$key"; fi;;']],
    found: ['crash/del', /as it was before .* a kill before call \d+, .*; got \+ link kp/],
  },
  {
    ...{ what: 'puts aside what its GC frees', base: 'ipam' },
    faults: [
      ['gone "$owner"; rm -f "$each"; }', 'mv "$each" "$each.old"; rm "$each.old"; }'],
      ['for each in "$claims"/*; do\n    [ -L', 'for each in "$claims"/*[0-9]; do\n    [ -L'],
    ],
    found: ['crash/gc', /as it was before .* a kill before call \d+, unlinkat .*; got \+ file \S+\.old/],
  },
];

/** Of what the correct plugins do not do. */
const UNCLAIMED = {
  ipam: [],
  chained: [{ check: 'chained/broken-previous', reason: 'hands it on unread' }],
  interface: [{ check: 'check/tolerates-routes', reason: 'makes no routes' }],
} as const;

const skip = ['jq', 'ip', 'nsenter'].every((name) =>
  ['/usr/bin', '/usr/sbin', '/bin', '/sbin'].some((at) => existsSync(`${at}/${name}`)),
)
  ? false
  : 'not installed: jq, iproute2, util-linux';

for (const { what, base, faults, found } of FAULTY) {
  test(`a plugin that ${what} is found out by ${found[0]}`, { skip }, async () => {
    const failure = async (plugin: ShellPlugin) => {
      const run = await checkPlugin({
        ...{ program: plugin.program, kind: base, only: [found[0]], env: process.env },
      });
      assert.equal(run.outcomes.length, 1);
      return run.outcomes[0];
    };
    using faulty = new ShellPlugin(base, faults);
    const outcome = await failure(faulty);
    assert.equal(outcome?.status, 'failed', outcome?.reason);
    const { expected = '', got = '' } = outcome?.failure ?? {};
    assert.match(`expected ${expected}; got ${got}`, found[1]);
  });
}

for (const base of ['ipam', 'chained', 'interface'] as const) {
  test(`a correct plugin in the shell passes all that it claims: ${base}`, { skip }, async () => {
    using plugin = new ShellPlugin(base);
    const run = await checkPlugin({
      ...{ program: plugin.program, env: process.env },
      profile: { unclaimed: UNCLAIMED[base] },
    });
    const failed = run.outcomes.filter(({ status }) => status === 'failed');
    assert.deepEqual(
      failed.map(({ id, failure }) => `${id}: expected ${failure?.expected}; got ${failure?.got}`),
      [],
    );
    const passed = run.outcomes.filter(({ status }) => status === 'passed').map(({ id }) => id);
    for (const each of FAULTY)
      if (each.base === base) assert.ok(passed.includes(each.found[0] as never), each.found[0]);
    assert.equal(run.plugin?.kind, base);
  });
}
