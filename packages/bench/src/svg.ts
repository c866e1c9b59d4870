/** SVG as text, from elements. */

/** An element with attributes, and what is inside. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  inside: readonly string[] | string = [],
): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(typeof value === 'number' ? short(value) : value)}"`)
    .join('');
  const content = typeof inside === 'string' ? escaped(inside) : inside.join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** A whole drawing. */
export function drawing(width: number, height: number, inside: readonly string[]): string {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    ...{ viewBox: `0 0 ${width} ${height}`, width, height },
    'font-family': 'Inter, "Helvetica Neue", Helvetica, Arial, sans-serif',
    'font-size': 12,
  };
  return `${element('svg', attributes, ['\n', ...inside.map((each) => `${each}\n`)])}\n`;
}

function escaped(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      // Nothing else below a space may be in XML.
      .replace(/[^\P{Cc}\t\n]/gu, '\uFFFD')
  );
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}
