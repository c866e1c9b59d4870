import { closest } from '@heddle/cni';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { ACTIONS, SHOWN_ACTIONS } from '../lab/actions.ts';
import { LAB_FLAGS, type LabFlags } from '../lab/flags.ts';
import { CommandError } from '../output/report-error.ts';

/** `heddle lab`. */
export const labCommand = defineCommand<LabFlags, readonly string[]>({
  name: 'lab',
  group: 'Learn',
  brief: 'a cluster of namespaces on this machine, to try things on',
  about: [
    '`up` makes nodes with a network between them: switches, a router, addresses. Each node has its own network, files and ' +
      'processes, joins the others as `heddle up` has it, and gets pods. `ls` shows them, `matrix` asks from everywhere to ' +
      'everywhere, by ping, UDP and TCP, and ends with 1 when something stays without an answer. `exec` runs a command, or a ' +
      'shell, on a node, in the network of a pod, or on the router. `cut` pulls the cable of a node, `heal` puts it back, ' +
      '`down` takes everything away. `run` makes a lab of its own, does what a scenario file says, and ends with 1 at the first step ' +
      'that does not come out as the file has it.',
    'Nothing of this machine is touched: the lab sees its files, but what is written below /etc, /opt, /run and /var/lib is ' +
      "the lab's own. It lives in one process; when that ends, in whatever way, the lab is gone.",
  ],
  examples: [
    { command: 'heddle lab up --nodes 5 --topology two-segments', what: 'makes a cluster' },
    { command: 'heddle lab matrix', what: 'shows which pods reach which' },
    { command: 'heddle lab exec pod1-1 -- ip route', what: 'looks at the routes of a pod' },
    { command: 'heddle lab cut node2', what: 'takes a node off the network' },
    { command: 'heddle lab run docs/scenarios/cut.json', what: 'plays a scenario' },
    { command: 'heddle lab down', what: 'takes the cluster away' },
  ],
  usage: '<up|ls|matrix|exec|cut|heal|run|down> [argument]... [-- command]',
  json: `type Output = Status | Matrix; // Matrix for matrix, nothing for exec and down
interface Status {
  segments: { name: string; mtu: number; gateways: string[] }[];
  nodes: {
    name: string;
    segment: string;
    addresses: string[];
    cut: boolean;
    pods: { name: string; addresses: string[] }[];
  }[];
  etcd: string[]; // members
  wiring: 'heddle' | 'by-hand';
}
interface Matrix {
  from: string[];
  to: string[];
  reaches: {
    from: string;
    to: string;
    family: 4 | 6;
    address: string;
    failures: { ping?: string; udp?: string; tcp?: string }; // what did not work, and why
  }[];
}`,
  parameters: {
    flags: LAB_FLAGS,
    positional: {
      kind: 'array',
      parameter: {
        placeholder: 'action argument',
        parse: String,
        brief: `what to do: ${SHOWN_ACTIONS.join(', ')}`,
      },
    },
  },
  async run(cli, flags, name, ...args) {
    const action = name === undefined ? undefined : ACTIONS[name];
    if (action !== undefined) return await action(cli, flags, args);
    const meant = name === undefined ? undefined : closest(name, SHOWN_ACTIONS);
    throw new CommandError(
      EXIT.USAGE,
      name === undefined ? 'lab: say what to do' : `there is nothing like "lab ${name}"`,
      {
        hint: meant === undefined ? `one of ${SHOWN_ACTIONS.join(', ')}` : `did you mean "lab ${meant}"?`,
      },
    );
  },
});
