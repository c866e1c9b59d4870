import type { AgentStatus, CallFigures, NodeStatus } from '@heddle/agent';
import { aheadText } from '../node/ahead-text.ts';
import { formatAge } from '../output/age.ts';
import { type Column, formatFacts, formatTable } from '../output/table.ts';

/**
 * The agent's figures for people.
 *
 * @param now milliseconds since the epoch
 * @param styled whether a terminal shows it
 */
export function statusText(status: AgentStatus, now: number, styled: boolean): string {
  const { version, pid, since, socket, errors, declined, replayed, troubles } = status;
  const { clients, waitingCallers, waitingForTurn, waitingDels, memory, cpu } = status;
  const facts = formatFacts(
    [
      ['agent', `version ${version}, process ${pid}, for ${formatAge(now - Date.parse(since))}`],
      ['socket', socket ?? "systemd's"],
      ['memory', `${(memory / 1024 / 1024).toFixed(0)} MiB`],
      ['processor', `${cpu.toFixed(1)} s`],
      ['callers waiting', `${waitingCallers ?? 'unknown'}`],
      ['clients now', `${clients}, ${waitingForTurn} of them wait for another call to end`],
      ['left to callers', `${declined}`],
      ['DELs waiting', `${waitingDels}`],
      ['DELs made up', `${replayed}`],
      [
        'errors',
        Object.entries(errors)
          .map(([code, count]) => `${count} of code ${code}`)
          .join(', ') || 'none',
      ],
      ['troubles', `${troubles}`],
      ...(status.node === null ? [] : nodeFacts(status.node)),
    ],
    styled,
  );
  const calls = Object.entries(status.calls).flatMap(([command, { plugins }]) =>
    Object.entries(plugins).map(([plugin, figures]) => ({ command, plugin, ...figures })),
  );
  return calls.length === 0 ? facts : `${facts}\n${formatTable(COLUMNS, calls, styled)}`;
}

function nodeFacts({ name, store, ready, reason, hint, ...node }: NodeStatus): [string, string][] {
  const { membership, blocks, waitingReleases, leaksReleased } = node;
  const held = blocks.reduce((sum, block) => sum + block.held, 0);
  return [
    ['node', `${name} of ${store}, ${membership}`],
    ['addresses', ready ? `${held} held, of ${blocks.length} blocks` : `none can be taken: ${reason ?? ''}`],
    ...(node.ahead === undefined ? [] : [['addresses ahead', aheadText(node.ahead)] as [string, string]]),
    ...(hint === undefined ? [] : [['what to do', hint] as [string, string]]),
    ['addresses waiting', `${waitingReleases} to be given back`],
    ['leaks given back', `${leaksReleased}`],
  ];
}

const COLUMNS: readonly Column<CallFigures & { readonly command: string; readonly plugin: string }>[] = [
  { title: 'COMMAND', value: ({ command }) => command },
  { title: 'PLUGIN', value: ({ plugin }) => plugin },
  { title: 'DONE', value: ({ done }) => `${done}`, align: 'right' },
  { title: 'FAILED', value: ({ failed }) => `${failed}`, align: 'right' },
  { title: 'HALF WITHIN', value: ({ p50 }) => `${p50.toFixed(2)} ms`, align: 'right' },
  { title: '99% WITHIN', value: ({ p99 }) => `${p99.toFixed(2)} ms`, align: 'right' },
];
