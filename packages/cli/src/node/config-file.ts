/** The configuration that makes this machine a node: made of flags and what is there, and written whole. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type NodeConfig, parseNodeConfig, readNodeConfig, type WrittenNodeConfig } from '@heddle/agent';
import { makeDirectory } from '@heddle/sys';
import type { Cli } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import type { ConfigFlags, NodeFlags } from './flags.ts';

const DEFAULT_STORE = 'sqlite:///var/lib/heddle/store.db';

/** Where the configuration is. */
export function configFile({ cwd, places }: Pick<Cli, 'cwd' | 'places'>, { config }: ConfigFlags): string {
  return resolve(cwd, config ?? places.nodeConfig);
}

/** @throws {CommandError} when this machine is no node; {NodeError} when the configuration is not valid */
export function ownConfig(cli: Cli, flags: ConfigFlags): NodeConfig {
  const file = configFile(cli, flags);
  if (existsSync(file)) return readNodeConfig(file);
  throw new CommandError(EXIT.FAILED, `this machine is no node: there is no ${file}`, {
    hint: '`heddle up` makes it one',
  });
}

/**
 * What `heddle up` is to write: what was there, with what the flags say in its place.
 *
 * @throws {CommandError} when another name or store is asked for than the node has
 * @throws {NodeError} NODE_CONFIG_INVALID
 */
export function desiredConfig(cli: Cli, flags: NodeFlags): WrittenNodeConfig {
  const file = configFile(cli, flags);
  const before: Partial<WrittenNodeConfig> = existsSync(file) ? readNodeConfig(file) : {};
  for (const what of ['name', 'store'] as const) {
    const [was, asked] = [before[what], flags[what]];
    if (was !== undefined && asked !== undefined && was !== asked) {
      throw new CommandError(EXIT.FAILED, `this node has the ${what} ${was}, and cannot become ${asked}`, {
        hint: '`heddle down` takes it out of its cluster first',
      });
    }
  }
  const { ca, cert, key, user, label } = flags;
  const tls = { ...before.tls, ...absolute(cli, { ca, cert, key }) };
  const config: WrittenNodeConfig = {
    ...before,
    name: flags.name ?? before.name ?? hostname().toLowerCase(),
    store: flags.store ?? before.store ?? DEFAULT_STORE,
    ...(Object.keys(tls).length > 0 && { tls }),
    ...(user !== undefined && { user }),
    ...(flags.passwordFile !== undefined && { password: passwordIn(resolve(cli.cwd, flags.passwordFile)) }),
    ...(label !== undefined && { labels: Object.fromEntries(label) }),
    ...(flags.interface !== undefined && { interface: flags.interface }),
    ...(flags.subnet !== undefined && { subnets: flags.subnet.map(String) }),
  };
  parseNodeConfig(config, 'heddle up');
  return config;
}

/** Writes it, for root alone: it may have a password. */
export function writeConfig(file: string, config: WrittenNodeConfig): void {
  makeDirectory(dirname(file), 0o755);
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function absolute({ cwd }: Cli, files: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given.map(([name, path]) => [name, resolve(cwd, path)]));
}

function passwordIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new CommandError(EXIT.FAILED, `read the password in ${file}: ${(cause as Error).message}`, {
      cause,
    });
  }
}
