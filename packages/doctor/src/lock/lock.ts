/**
 * What a node's networking is made of, pinned: its configuration files, its plugins, what the kernel must be able to do.
 * A lock is a JSON text fit for Git: sorted, without times and without what differs between two equal nodes.
 */
import { ConfigError, goJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@heddle/cni';

/** A configuration file. */
export interface LockedFile {
  /** Below the directory of networks. */
  readonly path: string;
  readonly sha256: string;
  /** The network in it; nothing for a file that holds none. */
  readonly network?: string;
}

/** The program of a type. */
export interface LockedPlugin {
  readonly type: string;
  readonly path: string;
  readonly sha256: string;
  /** The versions that it answers; none when it does not say. */
  readonly versions: readonly string[];
}

/** See the file's comment. */
export interface Lock {
  /** The form of this text. */
  readonly lockVersion: 1;
  /** The network that a runtime takes by itself: the first by file name. */
  readonly network?: string;
  readonly files: readonly LockedFile[];
  readonly plugins: readonly LockedPlugin[];
  /** What the kernel must be able to do: `link bridge`, `nft nat`, `tc tbf`. */
  readonly kernel: readonly string[];
  readonly signature?: LockSignature;
}

/** Who answers for a lock. */
export interface LockSignature {
  readonly algorithm: 'ed25519';
  /** SHA-256 of the public key in its DER form, in hexadecimal digits: which key it was. */
  readonly key: string;
  /** In base64. */
  readonly value: string;
}

/** The text of a lock, with a newline at its end. Equal locks have equal texts. */
export function formatLock({ files, plugins, kernel, ...lock }: Lock): string {
  const { lockVersion, network, signature } = lock;
  const ordered: Lock = {
    lockVersion,
    ...(network !== undefined && { network }),
    files: files
      .toSorted((a, b) => compare(a.path, b.path))
      .map(({ path, sha256, network: own }) => ({
        path,
        sha256,
        ...(own !== undefined && { network: own }),
      })),
    plugins: plugins
      .toSorted((a, b) => compare(a.type, b.type))
      .map(({ type, path, sha256, versions }) => ({ type, path, sha256, versions })),
    kernel: kernel.toSorted(compare),
    ...(signature !== undefined && { signature }),
  };
  return `${JSON.stringify(ordered, null, 2)}\n`;
}

/** The bytes that a signature is of: the text without the signature. */
export function signedBytes({ signature: _, ...lock }: Lock): Uint8Array {
  return new TextEncoder().encode(formatLock(lock));
}

/**
 * Reads the text of a lock.
 *
 * @throws {DecodeError} when it is no JSON
 * @throws {ConfigError} when it is no lock, or of a form that this program does not know
 */
export function parseLock(text: string, file: string): Lock {
  const json = parseJson(text, { what: 'read the lock', file });
  const fail = (reason: string): never => {
    throw new ConfigError(reason, { file, hint: '`heddle lock` writes it anew' });
  };
  if (!isJsonObject(json)) return fail('expected an object');
  const { lockVersion, network, files, plugins, kernel, signature } = json;
  if (lockVersion !== 1) return fail(`lockVersion must be 1, is ${goJson(lockVersion)}`);
  const objects = (value: JsonValue | undefined, name: string): readonly JsonObject[] =>
    Array.isArray(value) && value.every(isJsonObject) ? value : fail(`"${name}" must be a list of objects`);
  const textOf = (object: JsonObject, name: string): string => {
    const value = object[name];
    return typeof value === 'string' ? value : fail(`"${name}" must be a text`);
  };
  const texts = (value: JsonValue | undefined, name: string): readonly string[] =>
    Array.isArray(value) && value.every((each) => typeof each === 'string')
      ? value
      : fail(`"${name}" must be a list of texts`);
  return {
    lockVersion,
    ...(typeof network === 'string' && { network }),
    files: objects(files, 'files').map((each) => ({
      ...{ path: textOf(each, 'path'), sha256: textOf(each, 'sha256') },
      ...(typeof each['network'] === 'string' && { network: each['network'] }),
    })),
    plugins: objects(plugins, 'plugins').map((each) => ({
      ...{ type: textOf(each, 'type'), path: textOf(each, 'path'), sha256: textOf(each, 'sha256') },
      versions: texts(each['versions'], 'versions'),
    })),
    kernel: texts(kernel, 'kernel'),
    ...(isJsonObject(signature) && {
      signature: { algorithm: 'ed25519', key: textOf(signature, 'key'), value: textOf(signature, 'value') },
    }),
  };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
