/** The page on the conformance kit: how to use it, and its checks, made from them. */
import { CHECKS, type Check, RUNTIME_CHECKS, SUITES, suiteOf } from '@heddle/conformance';

/** `docs/conformance.md`. */
export function conformancePage(): string {
  return [
    '<!-- Made by scripts/generate.ts from the checks. Change them, or scripts/generate/conformance-page.ts, then run it. -->',
    INTRODUCTION,
    ...SUITES.map((suite) => suiteSection(suite)),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `# Conformance

\`heddle conformance PLUGIN\` runs any CNI plugin, whatever it is written in, on the kernel of this machine, and says what it
does otherwise than the specification 1.1.0 wants, or than runtimes and people rely on. It knows the plugin only from outside.

\`\`\`sh
heddle conformance /opt/cni/bin/bridge              # a plugin of a well-known name: the kit has a configuration
heddle conformance ./my-plugin --config plugin.json # any other: give the plugin's object of a network list
heddle conformance ./my-plugin --suite contract --suite gc
heddle conformance --list
\`\`\`

It needs root, for network and mount namespaces of its own. What plugins write below /etc, /run, /var/lib and /var/log goes to
memory; links, rules and routes are made in namespaces; nothing of the machine is changed, and all of it is gone with the command,
however that ends. All checks of one plugin take from a quarter of a minute to one and a half; the last line of the table says
how long it was.

## What is checked

A check is one statement. It rests on a sentence of the specification, or is marked as beyond it. A failure says what was
sent (environment, stdin), what came, what was expected and why it matters, and gives one command that runs just this check.
Exit code 5 means that a check failed, 1 that they could not be run, or not to their end (no permission, a plugin that cannot
ADD at all, an interruption), 2 that the command line was not understood.

There are three kinds of plugins. The kit finds out which one it has by trying, or is told with \`--kind\`.

| kind | what it does | how it is called |
| --- | --- | --- |
| \`interface\` | makes an interface in the container | into an empty namespace |
| \`chained\` | changes what an earlier plugin made | into a namespace in which the kit has made \`eth0\`, with addresses of both families, default routes, and a previous result that says so |
| \`ipam\` | gives addresses | with the configuration of a plugin that delegates to it |

### Plugins that delegate

The kit brings an IPAM plugin, \`conformance-ipam\`, and puts it into CNI_PATH. Name it as \`ipam.type\`, and the delegation is
checked too: it notes how it is called, and fails, hangs or prints garbage when it is to.

\`\`\`json
{ "type": "my-plugin", "myOption": true, "ipam": { "type": "conformance-ipam" } }
\`\`\`

### Plugins that need a daemon

\`--daemon 'COMMAND'\` runs a shell command on the node for as long as checks run there; for more than one command, give
\`sh -c '…'\`. It shares the node's namespaces, and /run and /var/lib as the plugin sees them. \`--ready PATH\` names what is
there when it is ready, such as its socket. The daemon is killed with the command, and sooner with its node.

\`dhcp\` needs nothing of this: the kit starts \`dhcp daemon\` by itself, and has containers in a network with a DHCP server of
its own. For other flags, give the daemon with \`--daemon\`, and \`--ready /run/cni/dhcp.sock\`.

### Killing at every step

The suite \`crash\` kills the plugin, and all that it has started, at system calls that change something which outlives it,
one after the other: requests on netlink sockets (but for those that only ask), files made, written, renamed, removed or
locked, mounts, namespaces entered. After each kill it does what a runtime does, DEL and then GC without attachments;
node and container must be as they are when nobody kills, and an ADD of the same names must work. The first ADD of a node
is killed too, each time on a fresh one: what all attachments share may then be there in part, and the next ADD must
complete it. Where a daemon runs beside the plugin, the same is done to the daemon, which is started anew after each kill.
Six or eight points of each command are tried, spread over all of them; \`--crash 20\` tries so many, \`--crash all\` every one.
The report says how many there were.

\`\`\`sh
heddle conformance ./my-plugin --config plugin.json --suite crash --crash all
\`\`\`

In this repository one command does that for all of Heddle's plugins and for the full chain, with all other checks, by the
plugins' program alone and through the agent, here and, where links need another kernel, in the lab of user-mode Linux
([testing.md](testing.md#the-lab)). It takes hours.

\`\`\`sh
make proof                  # PLUGINS=vlan,vrf for some plugins only
\`\`\`

Each point of the following was tried, with \`--suite crash --crash all\`, on a kernel 6.18, and those of dummy, ipvlan, vlan and
vrf on one 6.1 of user-mode Linux: in the lane \`program\` the plugin is killed, in the lane \`agent\` the agent that serves it,
while its client goes on. After DEL and GC all was as before, and ADD worked again. The numbers are those of the points.
\`heddle\` and \`heddle-ipam\` take addresses from a node of a cluster, which runs beside them where others have the lane \`agent\`,
and was killed as well.

| plugin | lane | ADD | DEL | GC | first ADD |
| --- | --- | --- | --- | --- | --- |
| bandwidth | program | 15 | 10 | 2 | 21 |
| bandwidth | agent | 15 | 10 | 2 | 19 |
| bridge | program | 37 | 19 | 11 | 51 |
| bridge | agent | 37 | 19 | 11 | 49 |
| dhcp | program | 9 | 5 | none | 15 |
| dhcp | agent | 9 | 5 | none | 13 |
| dhcp | its own daemon, beside the agent | 18 | 8 | 2 | 21 |
| dummy | program | 28 | 15 | 8 | 34 |
| dummy | agent | 28 | 15 | 8 | 32 |
| firewall | program | 11 | 7 | 3 | 18 |
| firewall | agent | 11 | 7 | 3 | 16 |
| flannel | program | 35 | 15 | 8 | 52 |
| flannel | agent | 33 | 13 | 8 | 49 |
| heddle | program | 25 | 9 | none | 29 |
| heddle | its node, beside the program | 111 | 97 | 115 | 87 |
| heddle-ipam | program | 9 | 5 | none | 13 |
| heddle-ipam | its node, beside the program | 105 | 99 | 117 | 87 |
| host-device | program | 32 | 17 | 8 | 38 |
| host-device | agent | 32 | 17 | 8 | 36 |
| host-local | program | 25 | 10 | 6 | 36 |
| host-local | agent | 23 | 9 | 6 | 33 |
| ipvlan | program | 33 | 17 | 8 | 39 |
| ipvlan | agent | 33 | 15 | 8 | 37 |
| loopback | program | 12 | 8 | none | 18 |
| loopback | agent | 12 | 8 | none | 16 |
| macvlan | program | 33 | 17 | 8 | 39 |
| macvlan | agent | 33 | 15 | 8 | 37 |
| portmap | program | 12 | 7 | 3 | 19 |
| portmap | agent | 12 | 7 | 3 | 17 |
| ptp | program | 37 | 18 | 10 | 45 |
| ptp | agent | 37 | 18 | 10 | 43 |
| sbr | program | 14 | 20 | none | 20 |
| sbr | agent | 14 | 20 | none | 18 |
| static | program | 9 | 5 | none | 15 |
| static | agent | 9 | 5 | none | 13 |
| tap | program | 36 | 15 | 8 | 42 |
| tap | agent | 36 | 15 | 8 | 40 |
| tuning | program | 27 | 16 | 6 | 39 |
| tuning | agent | 27 | 14 | 4 | 37 |
| vlan | program | 33 | 17 | 8 | 39 |
| vlan | agent | 33 | 15 | 8 | 37 |
| vrf | program | 16 | 12 | none | 22 |
| vrf | agent | 16 | 10 | none | 20 |

The full chain of a usual node (\`bridge\` with \`host-local\`, \`portmap\`, \`firewall\`, \`bandwidth\`, \`tuning\`) was killed in
the same way at each of its calls: its programs at 98 of an ADD, 51 of a DEL and 125 of the first ADD of a node, the agent that
serves it at 96, 47 and 124.

What it is done with can be used alone, by tests of anything: the program \`packages/conformance/build/heddle-crash\`, and
functions of \`@heddle/conformance\`.

\`\`\`sh
heddle-crash -- ./my-plugin                    # lists the calls on stderr: number, process, call, path or kind of request
heddle-crash --kill 7 -- ./my-plugin           # ends before the seventh; --after: once it is done
heddle-crash --hold 7 -- ./my-plugin           # stops there, until a SIGUSR1 or its own end
heddle-crash --kill 7 --attach "$(pidof daemon)"
\`\`\`

\`\`\`ts
import { attachCrash, crashAt, holdAt } from '@heddle/conformance';

const { points } = await crashAt({ program, env, stdin, point: 0 }); // 0: nothing is killed
for (const { number } of points) await crashAt({ program, env, stdin, point: number });
\`\`\`

Calls are followed by ptrace(2), in every thread and every process that is started, in the order in which they are begun;
a program that does the same things in the same order each time is killed at the same place each time. What a program asks
for by io_uring is not seen.

## In continuous integration

A profile says what a plugin does not claim, each with a reason. What it names (a check, or a whole suite) is neither run
nor counted, and is listed in each report, so that a plugin can take up the kit step by step.

\`\`\`json
{
  "unclaimed": [
    { "check": "gc", "reason": "reservations are collected by a daemon of our own" },
    { "check": "limits/descriptors", "reason": "our log library opens twenty files" }
  ]
}
\`\`\`

\`\`\`yaml
- run: npm install --global @heddle/cli
- run: sudo heddle conformance ./my-plugin --config test/plugin.json --profile test/profile.json --format junit > report.xml
\`\`\`

Formats: \`table\` (the default), \`json\`, \`junit\`, \`markdown\`. The last line of a table, and the member \`summary\` of JSON, say
the result in one line.

## Runtimes

\`heddle conformance --runtime RUNTIME\` checks what runs plugins: order, variables, configurations, capability arguments,
previous results, what is remembered, and what becomes of failures. The kit brings plugins that note how they are called.

COMMAND is a line for the shell. \`{verb}\` stands for \`add\`, \`del\`, \`check\`, \`gc\` or \`status\`, \`{network}\` for the network's name,
\`{netns}\` for the path of the container's namespace, \`{ifname}\` for the interface. As with cnitool, NETCONFPATH names the
directory of networks and CNI_PATH that of plugins; CNI_ARGS, CAP_ARGS (JSON) and CNI_IFNAME say the rest. For another
runtime, write a script that translates.

\`heddle\`, \`cnitool\`, \`podman\` and \`containerd\` are known by name. For the last two the kit brings such scripts
(\`packages/conformance/runtimes\`), which start them with directories of their own, and clean up after each check; they need
runc and a static busybox. With each comes a profile of what cannot be asked of it: Podman and containerd's \`ctr\` send no
CHECK, GC or STATUS, and make namespaces themselves. A runtime's profile may also have \`cniVersion\`, the newest version of
networks that it knows: \`1.0.0\` for these two.

\`\`\`sh
heddle conformance --runtime podman
heddle conformance --runtime './my-runtime {verb} {network} {netns}' --profile my-runtime.json
\`\`\`

## What was found

[conformance/](conformance/README.md) has what the kit says of every plugin of the reference, in two releases, and of runtimes:
Heddle's own command, cnitool, Podman and containerd. What is behind each failure stands below it, with the command that shows it
again. \`node --conditions=source scripts/conformance-reports.ts\` makes these pages; a name, such as \`bridge\` or \`debian/bridge\`,
makes them of that plugin only. The explanations are in \`scripts/conformance/explanations\`; a test fails for a failure that has none,
and for one that has gone.

## What is not checked

- A check that is about hard circumstances (many at once, a full disk, a kill) says nothing about a plugin that fails the same in
  plain ones: that is told once, by the check that is about it.
- Whether CNI_PATH may be missing: the specification calls it optional for ADD, and says that runtimes must always provide it.
- Clocks are not set: a jump is shown to plugins by the times of their files.
- Rules of the legacy kind of iptables are not looked at; those of its kind \`nft\` are.

## The checks`;

function suiteSection(suite: (typeof SUITES)[number]): string {
  const checks = [...CHECKS, ...RUNTIME_CHECKS];
  const rows = checks
    .filter((check) => suiteOf(check) === suite)
    .map((check) => `| \`${check.id}\` | ${cell(check.title)} | ${cell(citation(check))} |`);
  return [
    `### ${suite}`,
    ['| check | what holds | rests on |', '| --- | --- | --- |', ...rows].join('\n'),
  ].join('\n\n');
}

function citation({ cites }: Pick<Check, 'cites'>): string {
  return cites === 'beyond the spec' ? cites : `${cites.section}: “${cites.words}”`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
