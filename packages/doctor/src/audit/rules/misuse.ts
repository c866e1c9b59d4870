/** What the documentation of a plugin warns of. */
import { isJsonObject } from '@heddle/cni';
import { Addr } from '@heddle/netaddr';
import { type AuditRule, partRule } from '../audit-rule.ts';
import { isOn, listMember, member, type PluginPart, textMember } from '../model/network.ts';

interface Exclusive {
  readonly types: readonly string[];
  readonly members: readonly [string, string];
  /** Whether a member counts as set. */
  readonly isSet?: (part: PluginPart, name: string) => boolean;
  readonly why: string;
}

/** Members that a plugin does not take together. */
const EXCLUSIVES: readonly Exclusive[] = [
  {
    types: ['bridge'],
    members: ['hairpinMode', 'promiscMode'],
    isSet: isSwitchedOn,
    why: 'both make the bridge send frames back',
  },
  {
    ...{ types: ['bridge'], members: ['disableContainerInterface', 'ipam'] as const },
    isSet: (part, name) => (name === 'ipam' ? part.ipamType !== undefined : isSwitchedOn(part, name)),
    why: 'an interface that is down has no addresses',
  },
  {
    types: ['portmap'],
    members: ['externalSetMarkChain', 'markMasqBit'],
    why: 'each says how packets are marked',
  },
  { types: ['sbr'], members: ['table', 'gateways'], why: 'with a fixed table only rules are added' },
];

const exclusive = partRule({
  id: 'misuse/exclusive-members',
  title: 'Members that exclude each other',
  severity: 'error',
  explains:
    'Some members cannot be set together: `hairpinMode` and `promiscMode`, `disableContainerInterface` and `ipam` of bridge, `externalSetMarkChain` and `markMasqBit` of portmap, `table` and `gateways` of sbr.',
  *check(part) {
    for (const { types, members, isSet = hasMember, why } of EXCLUSIVES) {
      if (!types.includes(part.type ?? '') || !members.every((name) => isSet(part, name))) continue;
      const [first, second] = members;
      const isIgnored = part.type === 'sbr';
      yield {
        ...(isIgnored && { severity: 'warning' as const }),
        place: part.document.keyPlace([...part.path, member(part.raw, second)?.[0] ?? second]),
        what: `"${first}" and "${second}" exclude each other: ${why}`,
        consequence: isIgnored ? `"${second}" has no effect.` : 'Every attachment fails.',
        remedy: 'Keep one of them.',
      };
    }
  },
});

const conditions = partRule({
  id: 'misuse/portmap-conditions',
  title: 'Conditions in the language of another backend',
  severity: 'error',
  explains:
    "portmap's `conditionsV4` and `conditionsV6` are in the language of its backend: of iptables when they begin with `-` or `!`, else of nftables. One that contradicts `backend`, or a mixture of both, is refused.",
  *check(part) {
    if (part.type !== 'portmap') return;
    const found = ['conditionsV4', 'conditionsV6'].flatMap((name) => {
      const [first] = listMember(part.raw, name) ?? [];
      return typeof first === 'string'
        ? [{ name, backend: /^[-!]/.test(first) ? 'iptables' : 'nftables' }]
        : [];
    });
    if (hasMember(part, 'externalSetMarkChain'))
      found.push({ name: 'externalSetMarkChain', backend: 'iptables' });
    const named = textMember(part.raw, 'backend') || found[0]?.backend;
    const wrong = found.find(({ backend }) => backend !== named);
    if (wrong === undefined) return;
    yield {
      place: part.document.place([...part.path, member(part.raw, wrong.name)?.[0] ?? wrong.name]),
      what: `"${wrong.name}" is for ${wrong.backend}, and the backend is ${named}`,
      consequence: 'Every attachment with ports fails.',
      remedy: `Write it for ${named}, or set "backend": "${wrong.backend}".`,
    };
  },
});

const logToStdout = partRule({
  id: 'misuse/log-to-stdout',
  title: "A log on the plugin's answer",
  severity: 'error',
  explains:
    'What a plugin prints on stdout is its answer to the runtime. Log lines among it make the answer invalid, and every attachment fails with an error about JSON. Logs belong on stderr or in a file.',
  *check({ document, path, raw }) {
    for (const [key, value] of Object.entries(raw)) {
      if (!/log/i.test(key) || typeof value !== 'string') continue;
      if (!/^(stdout|\/dev\/stdout|\/dev\/fd\/1|\/proc\/self\/fd\/1|-)$/i.test(value.trim())) continue;
      yield {
        place: document.place([...path, key]),
        what: `"${key}" sends the log to stdout`,
        consequence:
          'The runtime takes it for the plugin\'s answer: "invalid character … looking for beginning of value".',
        remedy: 'Name a file, or stderr.',
      };
    }
  },
});

const dhcpOnIpvlan = partRule({
  id: 'misuse/dhcp-on-ipvlan',
  title: 'DHCP on ipvlan',
  severity: 'warning',
  explains:
    'All interfaces of ipvlan have the hardware address of the link below, and DHCP servers tell clients apart by it. It works only with client identifiers that the server honours; in the modes l3 and l3s broadcasts do not pass at all.',
  *check({ document, type, ipamType, ipamPath, raw }) {
    if (type !== 'ipvlan' || ipamType !== 'dhcp') return;
    const isLayer3 = /^l3/.test(textMember(raw, 'mode') ?? '');
    yield {
      ...(isLayer3 && { severity: 'error' as const }),
      place: document.place([...ipamPath, 'type']),
      what: `dhcp cannot ${isLayer3 ? 'work' : 'tell the interfaces of ipvlan apart'}`,
      consequence: isLayer3
        ? 'No answer arrives: every attachment fails.'
        : 'All containers may get one address.',
      remedy: 'Use macvlan, or host-local with a range that the server leaves out.',
    };
  },
});

const noDevice = partRule({
  id: 'misuse/host-device-without-device',
  title: 'host-device without a device',
  severity: 'error',
  explains:
    'host-device moves a device into the container: it must be named by `device`, `hwaddr`, `kernelpath` or `pciBusID`, or come from the runtime (capability `deviceID`).',
  *check(part) {
    if (part.type !== 'host-device' || part.capabilities.includes('deviceID')) return;
    if (['device', 'hwaddr', 'kernelpath', 'pciBusID', 'runtimeConfig'].some((name) => hasMember(part, name)))
      return;
    yield {
      place: part.document.place([...part.path, 'type']),
      what: 'host-device names no device',
      consequence: 'Every attachment fails: "specify either "device", "hwaddr", "kernelpath" or "pciBusID"".',
      remedy: 'Add "device" with the name of the link.',
    };
  },
});

const passthru = partRule({
  id: 'misuse/macvlan-passthru',
  title: 'A macvlan of mode passthru for many',
  severity: 'note',
  explains: 'A link carries one macvlan of mode passthru. The second container on the same link fails.',
  *check({ document, path, raw, type }) {
    if (type !== 'macvlan' || textMember(raw, 'mode') !== 'passthru') return;
    yield {
      place: document.place([...path, 'mode']),
      what: 'a link carries one macvlan of mode passthru',
      consequence: 'The second container on the link fails: "invalid argument" or "device or resource busy".',
      remedy: 'Use mode bridge for several containers.',
    };
  },
});

const masqueradeWithoutAddresses = partRule({
  id: 'misuse/masquerade-without-ipam',
  title: 'Masquerading without addresses',
  severity: 'warning',
  explains: '`ipMasq` masks the addresses that the `ipam` plugin gave. Without one there is nothing to mask.',
  *check(part) {
    if (!['bridge', 'ptp'].includes(part.type ?? '') || part.ipam !== undefined || !isOn(part.raw, 'ipMasq'))
      return;
    if (part.type === 'ptp') return;
    yield {
      place: part.document.keyPlace([...part.path, member(part.raw, 'ipMasq')?.[0] ?? 'ipMasq']),
      what: '"ipMasq" is set, and nobody gives addresses',
      consequence: 'It has no effect.',
      remedy: 'Add "ipam", or remove "ipMasq".',
    };
  },
});

const trunk = partRule({
  id: 'misuse/vlan-and-trunk',
  title: 'VLANs that overlap in a trunk',
  severity: 'warning',
  explains:
    'A VLAN that is both `vlan` (frames without a tag) and a member of `vlanTrunk` (frames with one), or ranges of a trunk that overlap: the last one that is set wins.',
  *check(part) {
    if (part.type !== 'bridge') return;
    const entries = (listMember(part.raw, 'vlanTrunk') ?? []).flatMap((each, index) => {
      if (!isJsonObject(each)) return [];
      const number = (name: string) => (typeof each[name] === 'number' ? each[name] : undefined);
      const from = number('minID') ?? number('id');
      const to = number('maxID') ?? number('id');
      return from === undefined || to === undefined ? [] : [{ index, from, to }];
    });
    const own = member(part.raw, 'vlan')?.[1];
    for (const { index, from, to } of entries) {
      const before = entries.find((each) => each.index < index && each.from <= to && from <= each.to);
      const isOwn = typeof own === 'number' && own > 0 && from <= own && own <= to;
      if (before === undefined && !isOwn) continue;
      yield {
        place: part.document.place([...part.path, 'vlanTrunk', index]),
        what: isOwn
          ? `VLAN ${own} is that of frames without a tag, too`
          : `the VLANs ${from} to ${to} overlap ${before?.from} to ${before?.to}`,
        consequence: 'What frames of that VLAN carry is not what one of the two says.',
        remedy: 'Name each VLAN once.',
      };
    }
  },
});

const sbrGateways = partRule({
  id: 'misuse/sbr-gateways',
  title: 'Too many gateways for sbr',
  severity: 'error',
  explains: '`gateways` of sbr has at most one address of each family.',
  *check({ document, path, raw, type }) {
    if (type !== 'sbr') return;
    const families = (listMember(raw, 'gateways') ?? []).map((each) =>
      typeof each === 'string' ? Addr.tryParse(each)?.family : undefined,
    );
    for (const [index, family] of families.entries()) {
      if (family === undefined || families.indexOf(family) === index) continue;
      yield {
        place: document.place([...path, 'gateways', index]),
        what: `there is another IPv${family} gateway before`,
        consequence: 'Every attachment fails.',
        remedy: 'Keep one of each family.',
      };
    }
  },
});

/** Rules on documented misuse, the likeliest first. */
export const MISUSE_RULES: readonly AuditRule[] = [
  ...[exclusive, logToStdout, conditions, noDevice, sbrGateways],
  ...[dhcpOnIpvlan, masqueradeWithoutAddresses, trunk, passthru],
];

function isSwitchedOn({ raw }: PluginPart, name: string): boolean {
  return isOn(raw, name);
}

function hasMember({ raw }: PluginPart, name: string): boolean {
  const value = member(raw, name)?.[1];
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
}
