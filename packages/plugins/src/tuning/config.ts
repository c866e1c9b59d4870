/** The configuration of the tuning plugin: its schema, and what its sources come to together. */
import { bool, ConfigError, int, macText } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import * as v from 'valibot';
import { repeatedMembers } from './repeated-members.ts';

/** Where backups are kept, unless the configuration says otherwise. */
export const DEFAULT_DATA_DIR = '/run/cni/tuning';

const size = v.pipe(int(), v.metadata({ minimum: 0 }));

const wishes = {
  sysctl: v.pipe(
    v.optional(v.record(v.string(), v.string())),
    v.description(
      'kernel parameters of the network by name, with dots or slashes; IFNAME stands for the interface',
    ),
  ),
  mac: v.pipe(v.optional(macText()), v.description('the hardware address')),
  promisc: v.pipe(v.optional(bool), v.description('whether the interface is promiscuous')),
  mtu: v.pipe(v.optional(size), v.description('what packets may measure')),
  allmulti: v.pipe(v.optional(bool), v.description('whether the interface takes all multicast packets')),
  txQLen: v.pipe(v.optional(size), v.description('how many packets may wait to be sent')),
};

/** The members that the tuning plugin reads. */
export const tuningConfig = v.object({
  ...wishes,
  dataDir: v.pipe(
    v.optional(v.string(), ''),
    v.description('where is kept what the interface was like before'),
    v.metadata({ default: DEFAULT_DATA_DIR }),
  ),
  args: v.optional(v.object({ cni: v.optional(v.object(wishes)) })),
  runtimeConfig: v.optional(
    v.object({ mac: v.pipe(v.optional(macText()), v.description('the hardware address')) }),
  ),
});

/** A configuration whose members have the right types; what they say is for the functions here to judge. */
export type TuningConfig = v.InferOutput<typeof tuningConfig>;

/** What is to be different about an interface. What is left out stays as it is. */
export interface LinkSettings {
  readonly mac?: string;
  readonly promisc?: boolean;
  readonly mtu?: number;
  readonly allmulti?: boolean;
  readonly txQLen?: number;
}

/** What the configuration asks for. */
export interface Settings {
  /** Values by the name of the kernel parameter, as it was written. */
  readonly sysctls: ReadonlyMap<string, string>;
  readonly link: LinkSettings;
}

/**
 * What is to be tuned. `args.cni` goes before the configuration; a hardware address may also come from CNI_ARGS and,
 * before that, from the runtime.
 *
 * @param macOfArgs the `MAC` of CNI_ARGS
 */
export function settingsOf(config: TuningConfig, macOfArgs: string | undefined): Settings {
  const asked = config.args?.cni ?? {};
  const mac = asked.mac || config.runtimeConfig?.mac || macOfArgs || config.mac;
  const mtu = asked.mtu ?? config.mtu;
  const promisc = asked.promisc ?? config.promisc;
  const allmulti = asked.allmulti ?? config.allmulti;
  const txQLen = asked.txQLen ?? config.txQLen;
  return {
    sysctls: new Map(Object.entries({ ...config.sysctl, ...asked.sysctl })),
    link: {
      ...(mac && { mac }),
      ...(promisc && { promisc }),
      ...(mtu && { mtu }),
      ...(allmulti !== undefined && { allmulti }),
      ...(txQLen !== undefined && { txQLen }),
    },
  };
}

/** Whether anything about the interface itself is to be different. */
export function changesLink({ link }: Settings): boolean {
  return Object.keys(link).length > 0;
}

/** @throws {ConfigError} for what no interface can have */
export function checkLinkSettings({ mac, mtu = 0, txQLen = 0 }: LinkSettings): void {
  if (mac !== undefined && Mac.tryParse(mac) === undefined) {
    throw new ConfigError(`invalid hardware address: ${mac}`, { pointer: '/mac' });
  }
  if (mtu < 0) throw new ConfigError(`invalid mtu: ${mtu}`, { pointer: '/mtu' });
  if (txQLen < 0) throw new ConfigError(`invalid txQLen: ${txQLen}`, { pointer: '/txQLen' });
}

/**
 * Refuses a kernel parameter that is there twice: only the last value would be seen.
 *
 * @param stdin the configuration as it came
 * @throws {ConfigError} naming the first one
 */
export function refuseDuplicates(stdin: Uint8Array): void {
  const text = new TextDecoder().decode(stdin);
  // Without the word, unless a name is written with escapes, there is nothing to look for.
  if (!text.toLowerCase().includes('sysctl') && !text.includes('\\')) return;
  const [twice] = [['sysctl'], ['args', 'cni', 'sysctl']].flatMap((path) => repeatedMembers(text, path));
  if (twice !== undefined) {
    throw new ConfigError(`duplicated sysctl key ${JSON.stringify(twice)}`, { pointer: '/sysctl' });
  }
}
