/** Attachments that have the same fault, told as one: it is one cause, and hundreds of findings hide all others. */
import type { Finding } from '../finding.ts';
import { nameOf } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { count, some } from './check.ts';

/** So many are told one by one. */
const FEW = 3;

/** Findings on attachments that differ in nothing but the attachment, in one finding for each network. */
export function alikeTogether({ pods }: NodeView, findings: readonly Finding[]): readonly Finding[] {
  const networks = new Map(pods.map(({ attachment }) => [nameOf(attachment), attachment.network]));
  const groups = Map.groupBy(findings, ({ id, severity, subject = '' }, index) => {
    const network = networks.get(subject);
    return network === undefined ? `${index}` : `${id} ${severity} ${network}`;
  });
  return [...groups.values()].flatMap((group) => {
    const [first, ...others] = group;
    if (first === undefined || group.length <= FEW) return group;
    const { subject = '', what, evidence = [] } = first;
    const network = networks.get(subject);
    const commands = [...new Set(group.flatMap((each) => each.commands ?? []))];
    return [
      {
        ...first,
        ...(commands.length > 0 && { commands }),
        subject: `network ${network}`,
        what: `${what} (${subject}; ${count(others.length, 'other attachment')} likewise)`,
        evidence: [...evidence, `also: ${some(others.map((each) => each.subject ?? ''))}`],
      },
    ];
  });
}
