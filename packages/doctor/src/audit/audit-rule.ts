/** A rule that looks at configurations, and what it gets to look at. */

import type { Addr, Prefix } from '@heddle/netaddr';
import type { Finding } from '../finding.ts';
import { found as finding, type Rule } from '../rule.ts';
import type { AuditedFile } from './model/file.ts';
import type { Network, PluginPart } from './model/network.ts';
import type { HostFacts, InstalledPlugins } from './model/ports.ts';
import type { AuditedDirectory, RuntimeName } from './model/selection.ts';

/** What the files do not say. */
export interface AuditOptions {
  /** How many pods the node is to hold. */
  readonly maxPods?: number;
  /** Where the addresses of services are. */
  readonly serviceCidrs?: readonly Prefix[];
  /** The addresses of the cluster's nodes; whole subnets of nodes are prefixes. */
  readonly nodeAddresses?: readonly (Addr | Prefix)[];
  /** The runtime that will read the files. */
  readonly against?: RuntimeName;
}

/** Everything that an audit looks at. */
export interface Subject {
  readonly directories: readonly AuditedDirectory[];
  /** Every configuration, siblings among them. */
  readonly files: readonly AuditedFile[];
  readonly networks: readonly Network[];
  readonly options: AuditOptions;
  /** Nothing when the configurations are not this machine's. */
  readonly host?: HostFacts;
  readonly installed?: InstalledPlugins;
}

/** What a rule says of what it found; the rule adds its id and its severity. */
export type Discovery = Omit<Finding, 'id' | 'severity'> & { readonly severity?: Finding['severity'] };

/** A rule that looks at configurations. */
export interface AuditRule extends Rule {
  readonly command: 'audit';
  /** Finds it. Pure: the same subject gives the same findings. */
  readonly check: (subject: Subject) => Iterable<Finding>;
}

type About = Omit<Rule, 'command'>;

/** A rule on everything at once. */
export function subjectRule(about: About & { check(subject: Subject): Iterable<Discovery> }): AuditRule {
  return ruleOf(about, (subject) => [about.check(subject)]);
}

/** A rule on each file. */
export function fileRule(
  about: About & { check(file: AuditedFile, subject: Subject): Iterable<Discovery> },
): AuditRule {
  return ruleOf(about, (subject) => subject.files.map((file) => about.check(file, subject)));
}

/** A rule on each network. */
export function networkRule(
  about: About & { check(network: Network, subject: Subject): Iterable<Discovery> },
): AuditRule {
  return ruleOf(about, (subject) => subject.networks.map((network) => about.check(network, subject)));
}

/** A rule on each plugin of each network. */
export function partRule(
  about: About & { check(part: PluginPart, network: Network, subject: Subject): Iterable<Discovery> },
): AuditRule {
  return ruleOf(about, (subject) =>
    subject.networks.flatMap((network) => network.parts.map((part) => about.check(part, network, subject))),
  );
}

function ruleOf(
  about: About & { readonly check: unknown },
  look: (subject: Subject) => readonly Iterable<Discovery>[],
): AuditRule {
  const { check: _, ...rule } = about;
  return {
    ...rule,
    command: 'audit',
    check: (subject) => look(subject).flatMap((found) => [...found].map((each) => finding(rule, each))),
  };
}
