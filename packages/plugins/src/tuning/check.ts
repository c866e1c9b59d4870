/** CHECK: kernel parameters and interface are as configured. */
import type { CheckCall } from '@heddle/cni/plugin';
import { Mac } from '@heddle/netaddr';
import type { KernelSession, Link } from '@heddle/netlink';
import { SysError } from '@heddle/sys';
import { type Findings, reportDrift, requirePrevResult } from '../interface/findings.ts';
import {
  changesLink,
  checkLinkSettings,
  type LinkSettings,
  refuseDuplicates,
  settingsOf,
  type TuningConfig,
} from './config.ts';
import { isPromiscuous } from './link-settings.ts';
import { sysctlsByPath } from './sysctl-path.ts';

/** See the file's comment. */
export async function check({
  config,
  args,
  stdin,
  ifName,
  prevResult,
  container,
}: CheckCall<TuningConfig>): Promise<void> {
  refuseDuplicates(stdin);
  const settings = settingsOf(config, args['MAC']);
  requirePrevResult(prevResult);
  const sysctls = sysctlsByPath(settings.sysctls, ifName);
  checkLinkSettings(settings.link);
  const findings: string[] = [];
  for (const [path, value] of sysctls) findings.push(...(await checkSysctl(container, path, value)));
  if (changesLink(settings)) {
    findings.push(...checkSettings(ifName, await container.links.find(ifName), settings.link));
  }
  reportDrift(findings);
}

async function checkSysctl({ sysctl }: KernelSession, path: string, wanted: string): Promise<Findings> {
  try {
    const value = await sysctl.read(path);
    return words(value) === words(wanted) ? [] : [`${path} should be ${wanted}, but is ${value}`];
  } catch (error) {
    if (SysError.is(error, 'ENOENT')) return [`${path} does not exist`];
    // Some parameters can only be written.
    if (SysError.is(error, 'EACCES', 'EPERM')) return [];
    throw error;
  }
}

/** The kernel separates the parts of a value by tabs, whatever they were written with. */
function words(value: string): string {
  return value.trim().replace(/\s+/g, ' ');
}

function checkSettings(name: string, link: Link | undefined, wanted: LinkSettings): Findings {
  if (link === undefined) return [`link ${name} is missing`];
  const { mac, promisc, mtu, allmulti, txQLen } = wanted;
  const differs = (what: string, is: unknown, should: unknown): Findings =>
    should === undefined || is === should ? [] : [`${what} of ${name} should be ${should}, but is ${is}`];
  return [
    ...differs('mac', `${link.mac ?? 'none'}`, mac === undefined ? undefined : `${Mac.parse(mac)}`),
    ...differs('promisc', isPromiscuous(link), promisc),
    ...differs('mtu', link.mtu, mtu),
    ...differs('allmulti', link.allmulti, allmulti),
    ...differs('txQLen', link.txQueueLength, txQLen),
  ];
}
