/** resolv.conf(5), as far as a result's `dns` goes. */
import { readFileSync, statSync } from 'node:fs';
import { CNI_CODE, CniError, type Dns } from '@heddle/cni';

/**
 * Reads a file in the form of /etc/resolv.conf.
 *
 * @throws {CniError} code 5 when it cannot be read, or is a device or pipe, which might have no end
 */
export function readResolvConf(path: string): Dns {
  try {
    if (!statSync(path).isFile()) throw new Error(`${path} is no regular file`);
    return parseResolvConf(readFileSync(path, 'utf8'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CniError(CNI_CODE.IO_FAILURE, `read resolvConf: ${why}`, { cause });
  }
}

/**
 * Parses the text of such a file. Search domains and options add up over lines, and of several domains the
 * last counts, both as the reference has it; other keywords are ignored.
 */
export function parseResolvConf(text: string): Dns {
  const lines = text.split('\n').map((line) => line.trim());
  const entries = lines
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith(';'))
    .map((line) => line.split(/\s+/))
    .filter((fields) => fields.length > 1);
  const valuesOf = (keyword: string) =>
    entries.filter(([first]) => first === keyword).map(([, ...rest]) => rest);
  const nameservers = valuesOf('nameserver').map(([address = '']) => address);
  const domain = valuesOf('domain').at(-1)?.[0];
  const search = valuesOf('search').flat();
  const options = valuesOf('options').flat();
  return {
    ...(nameservers.length > 0 && { nameservers }),
    ...(domain !== undefined && { domain }),
    ...(search.length > 0 && { search }),
    ...(options.length > 0 && { options }),
  };
}
