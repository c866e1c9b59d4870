/** What a network promises and nobody on the node does. */
import type { Finding } from '../finding.ts';
import { nameOf } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { count, doctorRule, type NodeCheck, some } from './check.ts';

const policy = doctorRule({
  id: 'policy/nobody',
  severity: 'note',
  title: 'Nothing on the node enforces network policies',
  explains:
    'Kubernetes accepts NetworkPolicy objects whatever the network is; only an engine beside the plugins enforces them. Told where pods of Kubernetes are attached, and neither configurations nor rules show an engine that is known (Calico, Cilium, Antrea, kube-router, Weave Net, OVN-Kubernetes, Kube-OVN, Canal, kube-network-policies, AWS, Azure).',
});

const dns = doctorRule({
  id: 'result/dns-not-applied',
  severity: 'note',
  title: 'The network names DNS servers that nobody applies',
  explains:
    "A result may have a `dns` part. The runtimes of Kubernetes do not look at it: the kubelet writes a pod's resolv.conf by its `dnsPolicy`. Told where attachments of pods have one.",
});

/** See the file's comment. */
export const unappliedCheck: NodeCheck = {
  rules: [policy, dns],
  look: async (view) => [...(await nobodyEnforces(view)), ...unusedDns(view)],
};

/** Words of configurations, and names of chains and tables, that tell of an engine. */
const ENGINE_WORDS = /calico|cilium|antrea|kube-?router|weave|ovn|canal|aws-cni|azure|romana|kindnet/i;
const ENGINE_CHAINS = /^(cali-|CILIUM_|ANTREA-|KUBE-NWPLCY-|KUBE-POD-FW-|WEAVE-NPC|AZURE-NPM)/;
const ENGINE_TABLES = /^(calico|kube-network-policies|kindnet-network-policies|antrea|azure-npm|kube-router)/;

async function nobodyEnforces(view: NodeView): Promise<readonly Finding[]> {
  const pods = view.pods.filter(({ attachment }) => attachment.pod?.name != null);
  if (pods.length === 0) return [];
  const { files, places } = view.ports;
  const texts = files
    .list(places.configDir)
    .map((name) => `${name} ${files.read(`${places.configDir}/${name}`) ?? ''}`);
  if (texts.some((text) => ENGINE_WORDS.test(text))) return [];
  if ((await view.ruleset.tables()).some(({ name }) => ENGINE_TABLES.test(name))) return [];
  if ((await view.ruleset.allChains()).some(({ name }) => ENGINE_CHAINS.test(name))) return [];
  return [
    found(policy, {
      subject: some([...new Set(pods.map(({ attachment }) => `network ${attachment.network}`))]),
      what: 'no known engine for network policies is on this node',
      consequence:
        'NetworkPolicy objects are accepted by the cluster and have no effect here: everything is allowed.',
      remedy:
        'if policies are meant to hold, have an engine run on this node: kube-network-policies, kube-router (--run-firewall=true, --run-router=false), Calico or Antrea for policies only; else do not count on them',
      evidence: [
        `${count(pods.length, 'pod')} of Kubernetes, such as ${pods
          .slice(0, 1)
          .map(({ attachment }) => nameOf(attachment))
          .join()}`,
      ],
    }),
  ];
}

function unusedDns(view: NodeView): readonly Finding[] {
  const pods = view.pods.filter(
    ({ attachment, result }) => attachment.pod?.name != null && (result?.dns?.nameservers ?? []).length > 0,
  );
  return [...Map.groupBy(pods, ({ attachment }) => attachment.network)].map(([network, each]) =>
    found(dns, {
      subject: `network ${network}`,
      what: `results of ${network} name the DNS servers ${(each[0]?.result?.dns?.nameservers ?? []).join(', ')}`,
      consequence: "Pods do not use them: the kubelet writes resolv.conf by the pod's dnsPolicy.",
      remedy:
        'take "dns" out of the network, and start its pods anew; for other servers, set dnsPolicy and dnsConfig in the pods, or clusterDNS of the kubelet',
      evidence: [some(each.map(({ attachment }) => nameOf(attachment)))],
    }),
  );
}
