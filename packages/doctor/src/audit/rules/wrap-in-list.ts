/** The edit that makes a list of a single plugin, with its text and formatting kept. */
import type { TextEdit } from '../../finding.ts';
import type { Network } from '../model/network.ts';

/** The edits; nothing when the plugin has no name that the list could have. */
export function wrapInList({ document, raw, name }: Network): readonly TextEdit[] | undefined {
  const root = document.node([]);
  if (root === undefined || name === undefined || document.errors.length > 0) return undefined;
  const { cniVersion } = raw;
  const members = [
    ...(typeof cniVersion === 'string' ? [`  "cniVersion": ${JSON.stringify(cniVersion)},`] : []),
    `  "name": ${JSON.stringify(name)},`,
    '  "plugins": [',
  ];
  const eol = document.text.includes('\r\n') ? '\r\n' : '\n';
  const end = root.offset + root.length;
  const inside = [...document.text.slice(root.offset, end).matchAll(/\n(?=[^\r\n])/g)];
  return [
    { file: document.path, offset: root.offset, length: 0, text: `{${eol}${members.join(eol)}${eol}    ` },
    ...inside.map(({ index }) => ({
      file: document.path,
      offset: root.offset + index + 1,
      length: 0,
      text: '    ',
    })),
    { file: document.path, offset: end, length: 0, text: `${eol}  ]${eol}}` },
  ];
}
