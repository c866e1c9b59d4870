/** Published ports: whether those they lead to are there, and whether containers can use their own. */
import { parseOwnerComment } from '@heddle/cni/plugin';
import { Addr } from '@heddle/netaddr';
import type { ListedElement, ListedRule } from '@heddle/netlink';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import { addressesEverywhere, namespacePaths } from '../node/namespaces.ts';
import { nameOf } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck } from './check.ts';

const staleNat = doctorRule({
  id: 'port/stale',
  severity: 'error',
  title: 'A published port leads to a container that is gone',
  explains:
    "A rule or map element translates packets to an address of a pool of this node which no namespace has. It was left when its container went without DEL, and wins over the mapping of the container that should have the port now. Read are Heddle's maps and the chains of the reference portmap, in nftables.",
});

const hairpin = doctorRule({
  id: 'port/hairpin',
  severity: 'warning',
  title: 'A container cannot reach itself by its own published port or service',
  explains:
    'What a container sends to its own published port comes back by the port of the bridge that it came in by, which a bridge refuses unless the port is in hairpin mode. It matters where the network asks for it ("hairpinMode"), where it is a warning, and where bridged packets pass the rules of services (br_netfilter), where it is a note.',
});

/** See the file's comment. */
export const publishedPortsCheck: NodeCheck = {
  rules: [staleNat, hairpin],
  look: async (view) => [...(await stale(view)), ...(await refusedHairpins(view))],
};

/** A translation, and where it is. */
interface Translation {
  readonly target: Addr;
  readonly where: string;
  readonly says: string;
  /** The network of the attachment, where the entry says so. */
  readonly network?: string | undefined;
  /** Deletes it. */
  readonly command?: readonly string[];
}

async function stale(view: NodeView): Promise<readonly Finding[]> {
  const translations = [...(await ownMaps(view)), ...(await referenceChains(view))];
  if (translations.length === 0) return [];
  const paths = namespacePaths(view.cached.flatMap(({ netns }) => netns ?? []));
  const alive = addressesEverywhere(paths);
  return translations
    .filter(({ target }) => !alive.has(String(target)))
    .map(({ target, where, says, network, command }) =>
      found(staleNat, {
        subject: `port to ${target}`,
        what: `${where} sends packets to ${target}, which no container of this node has`,
        consequence:
          'Whoever connects to that port gets no answer, also when another container has it by now.',
        remedy:
          command === undefined
            ? 'free what dead containers of the network have left'
            : 'delete the rule; `heddle gc NETWORK --keep-live` has the plugin do it, where it can',
        commands:
          command ?? (network === undefined ? [] : [commandLine('heddle', 'gc', network, '--keep-live')]),
        evidence: [says],
      }),
    );
}

async function ownMaps({ host, ruleset }: NodeView): Promise<readonly Translation[]> {
  const tables = await ruleset.tables();
  if (!tables.some(({ family, name }) => family === 'inet' && name === 'heddle')) return [];
  const found: Translation[] = [];
  for (const set of ['ports4', 'ports6', 'address_ports4', 'address_ports6']) {
    const elements = await host.nft.elements({ family: 'inet', table: 'heddle', set });
    for (const element of elements) {
      const target = targetOf(element);
      if (target === undefined) continue;
      const says = element.comment ?? `element of inet heddle ${set}`;
      const network = parseOwnerComment(says)?.network;
      found.push({ target, where: `port ${keyText(element)} (map inet heddle ${set})`, says, network });
    }
  }
  return found;
}

function targetOf({ data }: ListedElement): Addr | undefined {
  const [target]: readonly unknown[] = Array.isArray(data) ? data : [data];
  return target instanceof Addr ? target : undefined;
}

function keyText({ key }: ListedElement): string {
  const parts: readonly unknown[] = Array.isArray(key) ? key : [key];
  return parts.map(String).reverse().join('/');
}

/** Chains CNI-DN-… of portmap with iptables-nft, and its chains in nftables' own table. */
async function referenceChains({ ruleset }: NodeView): Promise<readonly Translation[]> {
  const chains = (await ruleset.allChains()).filter(
    ({ name, table }) => name.startsWith('CNI-DN-') || (table === 'cni_hostport' && name === 'hostports'),
  );
  const found: Translation[] = [];
  for (const chain of chains) {
    for (const rule of await ruleset.rules(chain)) {
      const target = dnatTarget(rule);
      if (target === undefined) continue;
      const { family, table, name } = chain;
      found.push({
        target,
        where: `chain ${family} ${table} ${name}`,
        says: rule.comment ?? `rule handle ${rule.handle}`,
        command: [commandLine('nft', 'delete', 'rule', family, table, name, 'handle', String(rule.handle))],
      });
    }
  }
  return found;
}

/** The address that a rule translates to: nft's `dnat to`, or iptables' DNAT target (struct nf_nat_range2). */
function dnatTarget({ expressions, family }: ListedRule): Addr | undefined {
  const nat = expressions.find((each) => each.expr === 'nat');
  if (nat?.expr === 'nat' && nat.addrMin !== undefined) {
    const load = expressions.find((each) => each.expr === 'immediate' && each.dreg === nat.addrMin);
    const bytes = load?.expr === 'immediate' ? load.data?.value : undefined;
    return bytes?.length === 4 || bytes?.length === 16 ? Addr.fromBytes(bytes) : undefined;
  }
  const target = expressions.find((each) => each.expr === 'target' && each.extension === 'DNAT');
  const info = target?.expr === 'target' ? target.info : undefined;
  if (info === undefined || info.length < 20) return undefined;
  return Addr.fromBytes(info.slice(4, family === 'ip6' ? 20 : 8));
}

async function refusedHairpins(view: NodeView): Promise<readonly Finding[]> {
  const seen = (await view.sysctl('net/bridge/bridge-nf-call-iptables')) === '1';
  const asked = new Set(
    view.networks.networks
      .filter(({ list }) => list.plugins.some(({ raw }) => raw['hairpinMode'] === true))
      .map(({ list }) => list.name),
  );
  return view.pods.flatMap(({ attachment, hostLink, cached }): readonly Finding[] => {
    if (hostLink?.port === undefined || hostLink.port.hairpin) return [];
    const bridge = view.links.find(({ index }) => index === hostLink.master);
    // A promiscuous bridge takes such frames itself, and gives them back.
    if (((bridge?.flags ?? 0) & IFF_PROMISC) !== 0) return [];
    const ports = cached?.capabilityArgs?.['portMappings'];
    const isPublished = Array.isArray(ports) && ports.length > 0;
    const isAsked = asked.has(attachment.network);
    if (!isAsked && !(seen && isPublished)) return [];
    return [
      found(hairpin, {
        severity: isAsked ? 'warning' : 'note',
        subject: nameOf(attachment),
        what: `${hostLink.name} is not in hairpin mode${isAsked ? ', although the network asks for it' : ''}`,
        consequence:
          'The container gets no answer when it calls itself by its published port or by its service.',
        remedy: isAsked
          ? 'switch it on again; find out what switches it off'
          : 'switch it on, and write "hairpinMode": true into the network for the containers to come',
        commands: [commandLine('bridge', 'link', 'set', 'dev', hostLink.name, 'hairpin', 'on')],
        ...(isPublished && { evidence: ['it has published ports'] }),
      }),
    ];
  });
}

/** linux/if.h */
const IFF_PROMISC = 0x100;
