import { closeSync, openSync } from 'node:fs';
import { type Check, only, since, spec } from '../../check.ts';
import { must } from '../../failure.ts';
import { jsonOf, outcome } from '../../lab/lab.ts';
import { refusal, refusalWith } from '../errors.ts';
import { nodeUnchanged } from '../unchanged.ts';

const CODE_4 = spec('Section 5, Error', 'The error message must contain the names of invalid variables');
const CONTAINER_ID = spec('Section 2, Parameters', 'Must start with an alphanumeric character');

/** The variables of the protocol. */
export const ENVIRONMENT_CHECKS: readonly Check[] = [
  missing('add', 'ADD', ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME']),
  missing('del', 'DEL', ['CNI_CONTAINERID', 'CNI_IFNAME']),
  {
    ...missing('check', 'CHECK', ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME']),
    skips: since('0.4.0'),
  },
  {
    id: 'contract/no-command',
    title: 'without CNI_COMMAND nothing is printed that could be taken for a result',
    cites: 'beyond the spec',
    why: 'It is started by hand, or by a runtime with a defect.',
    async run(lab) {
      const container = await lab.container();
      const call = await lab.call('ADD', container, { env: { CNI_COMMAND: undefined } });
      const introduces = call.exitCode === 0 && call.stdout === '';
      if (introduces) return;
      const { text } = refusalWith(call, [4], 'for no CNI_COMMAND');
      must(text.includes('CNI_COMMAND'), 'an error that names CNI_COMMAND', () => outcome(call), call);
    },
  },
  {
    id: 'contract/unknown-command',
    title: 'a command that does not exist is refused with code 4',
    cites: spec('Section 5, Error', 'Invalid necessary environment variables, like CNI_COMMAND'),
    why: 'A runtime of a later version must learn that the plugin does not know a command, not believe that it was done.',
    async run(lab) {
      const container = await lab.container();
      for (const command of ['FROBNICATE', 'add', 'ADD ']) {
        refusalWith(await lab.call(command, container), [4], `for CNI_COMMAND "${command}"`);
      }
    },
  },
  {
    id: 'contract/container-id',
    title:
      'a container ID with other characters than the specification allows is refused, and nothing is made',
    cites: CONTAINER_ID,
    why: 'Plugins name files and rules after it: "../x" would lead out of their directory.',
    async run(lab) {
      const container = await lab.container();
      const before = await lab.snapshot();
      for (const id of ['../escape', '-dash', 'a b', 'a/b', '.hidden', 'line\nbreak', '$(reboot)']) {
        const call = await lab.call('ADD', container, { env: { CNI_CONTAINERID: id } });
        refusalWith(call, [3, 4], `for CNI_CONTAINERID ${JSON.stringify(id)}`);
      }
      await nodeUnchanged(lab, before);
    },
  },
  {
    id: 'contract/long-container-id',
    title: 'a container ID of 64 digits, or with dots, underscores and hyphens, is taken',
    cites: CONTAINER_ID,
    why: 'That is what containerd, CRI-O and podman use.',
    async run(lab) {
      for (const id of ['0123456789abcdef'.repeat(4), 'My_container-1.2']) {
        const container = await lab.container(id);
        await lab.add(container);
        await lab.del(container);
      }
    },
  },
  {
    id: 'contract/interface-name',
    title: 'a name that no interface can have is refused, and nothing is made',
    cites: spec(
      'Section 2, Parameters',
      'if the plugin is unable to use this interface name it must return an error',
    ),
    why: 'The kernel would cut it, or make another name of it.',
    async run(lab) {
      const container = await lab.container();
      const before = await lab.snapshot();
      for (const name of ['sixteen-letters-', 'a/b', 'a b', '.', '..', 'a:b']) {
        const call = await lab.call('ADD', container, { env: { CNI_IFNAME: name } });
        refusalWith(call, [4], `for CNI_IFNAME ${JSON.stringify(name)}`);
      }
      await nodeUnchanged(lab, before);
    },
  },
  {
    id: 'contract/netns-missing',
    title: 'ADD into a namespace that is not there is refused',
    cites: spec(
      'Section 2, ADD',
      'create the interface defined by `CNI_IFNAME` inside the container at `CNI_NETNS`',
    ),
    why: 'A success would be a container without network.',
    skips: only('interface'),
    async run(lab) {
      const container = await lab.container();
      const call = await lab.call('ADD', container, { env: { CNI_NETNS: '/run/netns/kit-nowhere' } });
      refusal(call, 'for a CNI_NETNS that does not exist');
    },
  },
  {
    id: 'contract/netns-file',
    title: 'ADD into a path that is no namespace is refused',
    cites: spec('Section 2, Parameters', 'a path to the network namespace'),
    why: 'It is what remains of a namespace after an unmount; the interface would land somewhere else.',
    skips: only('interface'),
    async run(lab) {
      const container = await lab.container();
      const path = `${lab.house.directory}/plain-file`;
      closeSync(openSync(path, 'w'));
      for (const netns of [path, '/proc/self/ns/mnt']) {
        const call = await lab.call('ADD', container, { env: { CNI_NETNS: netns } });
        refusal(call, `for CNI_NETNS ${netns}`);
      }
    },
  },
  {
    id: 'contract/own-netns',
    title: "the plugin's own namespace as the container's is refused, and the node stays as it is",
    cites: 'beyond the spec',
    why: 'With a host-network pod, a runtime that makes this mistake would lose the network of the node.',
    skips: only('interface', 'chained'),
    async run(lab) {
      const container = await lab.container();
      const options = { env: { CNI_NETNS: lab.node.path } };
      refusal(await lab.call('ADD', container, options), "for the node's own namespace");
      const before = await lab.snapshot();
      await lab.call('DEL', container, options);
      await nodeUnchanged(lab, before);
    },
  },
  {
    id: 'contract/arguments',
    title: 'CNI_ARGS that the plugin does not know are no error when IgnoreUnknown says so',
    cites: spec('Section 2, Parameters', 'Extra arguments passed in by the user at invocation time'),
    why: 'Kubernetes runtimes send the names of pods to every plugin.',
    async run(lab) {
      const container = await lab.container();
      const CNI_ARGS = 'IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0;K8S_POD_UID=e4c2';
      await lab.add(container, { env: { CNI_ARGS } });
      await lab.del(container, { env: { CNI_ARGS } });
    },
  },
  {
    id: 'contract/plain-environment',
    title: 'an environment full of other things changes nothing',
    cites: 'beyond the spec',
    why: "Runtimes hand their own environment on; the runtime's locale is not the plugin's business.",
    async run(lab) {
      const container = await lab.container();
      const noise = { LC_ALL: 'tr_TR.UTF-8', IFS: '/', BIG: 'x'.repeat(100_000), CNI_FUTURE: 'something' };
      const { call } = await lab.add(container, { env: noise });
      jsonOf(call);
      await lab.del(container, { env: noise });
    },
  },
];

function missing(name: string, command: string, variables: readonly string[]): Check {
  return {
    id: `contract/required-${name}`,
    title: `${command} without a variable that it requires is refused with code 4, which names it`,
    cites: CODE_4,
    why: 'Whoever calls it by hand, or writes a runtime, is told what is missing.',
    async run(lab) {
      const container = await lab.container();
      for (const variable of variables) {
        const call = await lab.call(command, container, { env: { [variable]: undefined } });
        const { text } = refusalWith(call, [4], `for ${command} without ${variable}`);
        must(text.includes(variable), `an error that names ${variable}`, () => outcome(call), call);
      }
    },
  };
}
