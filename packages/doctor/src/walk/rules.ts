/** What a walk may find. */
import { doctorRule } from '../checks/check.ts';

/** A filter on the node dropped the probe. */
export const firewallDrops = doctorRule({
  id: 'firewall/drops',
  severity: 'error',
  title: 'A firewall of the node drops what containers send',
  explains:
    'A probe from a container is followed through nftables (and what iptables-nft puts there) by the kernel itself, which tells the rule or policy that dropped it. Docker, firewalld and ufw set the policy for forwarded packets to drop, for everybody. What legacy iptables drops is told by elimination.',
});

/** The probe was lost between the container and the node. */
export const lostOnLink = doctorRule({
  id: 'path/link',
  severity: 'error',
  title: 'Packets are lost between a container and the node',
  explains:
    "A probe does not get from the container to its gateway: the gateway's hardware address is not found, or the packet does not arrive.",
});

/** The node does not know where to send the probe. */
export const lostInRouting = doctorRule({
  id: 'path/route',
  severity: 'error',
  title: 'The node does not pass packets of a container on',
  explains:
    'The probe arrives at the node and does not leave it, and no filter dropped it: there is no route, the reverse path filter refuses it, or forwarding is off. The kernel is asked which.',
});

/** The answer came back to the node and no further. */
export const lostReturning = doctorRule({
  id: 'path/return',
  severity: 'error',
  title: 'Answers reach the node and not the container',
  explains: 'Connection tracking has seen the answer to a probe, and the container has not.',
});

/** The probe left the node with an address that nobody out there knows. */
export const notMasqueraded = doctorRule({
  id: 'path/masquerade',
  severity: 'error',
  title: "Packets leave the node with the container's own address, and are not answered",
  explains:
    'The probe leaves by the node\'s uplink untranslated and is not answered, while the node itself is answered: nobody out there has a route to the container. Networks whose addresses are routed outside need no translation; others do ("ipMasq").',
});

/** Nobody out there answers. */
export const lostBeyond = doctorRule({
  id: 'path/beyond',
  severity: 'warning',
  title: 'Packets leave the node and are not answered',
  explains:
    'The probe leaves the node as it should, and nothing comes back, while the node itself is answered.',
});
