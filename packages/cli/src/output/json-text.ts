/** JSON as a person reads it best: what fits on a line is on one line. */
export function jsonText(value: unknown, width: number): string {
  const short = oneLine(value);
  if (short.length <= width || typeof value !== 'object' || value === null) return short;
  const indented = (member: unknown, label = '') =>
    `  ${label}${jsonText(member, width - 2 - label.length).replaceAll('\n', '\n  ')}`;
  if (Array.isArray(value)) return `[\n${value.map((each) => indented(each)).join(',\n')}\n]`;
  const members = Object.entries(value).map(([key, each]) => indented(each, `${JSON.stringify(key)}: `));
  return `{\n${members.join(',\n')}\n}`;
}

function oneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${oneLine(each)}`);
  return `{${members.join(', ')}}`;
}
