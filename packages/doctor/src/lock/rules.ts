/** What `heddle verify` can find. */
import type { Rule } from '../rule.ts';

function lockRule(rule: Omit<Rule, 'command'>): Rule {
  return { ...rule, command: 'verify' };
}

/** The signature is not there, or not the expected one. */
export const badSignature = lockRule({
  id: 'lock/signature',
  title: 'The lock is not signed by this key',
  severity: 'error',
  explains:
    'Told with `--verify-key`. A lock that nobody signed, that another key signed, or that was changed afterwards says nothing that one can rely on.',
});

/** Another network is in force. */
export const otherNetwork = lockRule({
  id: 'lock/other-network',
  title: 'Another network is in force',
  severity: 'error',
  explains:
    'Runtimes that take the first file by name take the network of another file than when the lock was made. New Pods get another network than the old ones.',
});

/** A pinned file is gone. */
export const fileMissing = lockRule({
  id: 'lock/file-missing',
  title: 'A configuration file is gone',
  severity: 'error',
  explains:
    'The lock has it. Attachments to its network can still be removed from the cache, and no new ones be made.',
});

/** A pinned file has another content. */
export const fileChanged = lockRule({
  id: 'lock/file-changed',
  title: 'A configuration file was changed',
  severity: 'error',
  explains: 'Its SHA-256 is not that of the lock: any byte counts, spaces and comments too.',
});

/** A file that is not pinned. */
export const fileAdded = lockRule({
  id: 'lock/file-added',
  title: 'A configuration file was added',
  severity: 'warning',
  explains:
    'The lock does not have it. It has no effect on networks of other names unless it sorts first; that is told as lock/other-network.',
});

/** A pinned plugin is gone. */
export const pluginMissing = lockRule({
  id: 'lock/plugin-missing',
  title: 'A plugin is gone, or cannot be run',
  severity: 'error',
  explains: 'No container can be attached to a network that names it, nor detached.',
});

/** A pinned plugin has another content. */
export const pluginChanged = lockRule({
  id: 'lock/plugin-changed',
  title: 'A plugin is another program',
  severity: 'error',
  explains:
    'The SHA-256 of what a runtime would start is not that of the lock: an update, or somebody put another program there.',
});

/** A pinned plugin is found elsewhere. */
export const pluginMoved = lockRule({
  id: 'lock/plugin-moved',
  title: 'A plugin is found in another place',
  severity: 'warning',
  explains:
    'It is the same program. An earlier plugin directory may have got one, or the search path is another.',
});

/** A pinned plugin answers other versions. */
export const versionsChanged = lockRule({
  id: 'lock/versions-changed',
  title: 'A plugin speaks other versions',
  severity: 'warning',
  explains:
    'What it answers to VERSION is not what it was. With a program of the same digest this is the work of what it starts in turn.',
});

/** A plugin that is not pinned. */
export const pluginAdded = lockRule({
  id: 'lock/plugin-added',
  title: 'A plugin is used that the lock does not have',
  severity: 'warning',
  explains: 'A configuration that was changed or added names it.',
});

/** The kernel cannot do what plugins need. */
export const featureMissing = lockRule({
  id: 'lock/feature-missing',
  title: 'The kernel cannot do what a plugin needs',
  severity: 'error',
  explains:
    'Each feature of the lock is tried in a network namespace that is thrown away: kinds of links, chains of nftables, disciplines of traffic control. Needs root; without it, it is not looked at.',
});

/** All of them, the likeliest causes first. */
export const LOCK_RULES: readonly Rule[] = [
  badSignature,
  otherNetwork,
  pluginMissing,
  featureMissing,
  fileMissing,
  fileChanged,
  pluginChanged,
  fileAdded,
  pluginAdded,
  pluginMoved,
  versionsChanged,
];
