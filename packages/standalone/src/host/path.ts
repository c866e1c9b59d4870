/** `node:path`, as much of it as the program uses. */
export const delimiter = ':';

export function isAbsolute(path: string): boolean {
  return path.startsWith('/');
}

export function normalize(path: string): string {
  // Nearly every path is as it should be, or can only be seen not to be by taking it apart.
  if (isAbsolute(path) && !path.includes('//') && !path.includes('/.')) return path;
  const absolute = isAbsolute(path);
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts[parts.length - 1] !== '..') parts.pop();
    else if (!absolute) parts.push(part);
  }
  const joined = parts.join('/');
  if (joined === '') return absolute ? '/' : path.endsWith('/') && path !== '' ? './' : '.';
  return `${absolute ? '/' : ''}${joined}${path.endsWith('/') ? '/' : ''}`;
}

export function join(...parts: readonly string[]): string {
  return normalize(parts.filter((part) => part !== '').join('/'));
}

export function resolve(...parts: readonly string[]): string {
  let path = '';
  for (let i = parts.length - 1; i >= 0 && !isAbsolute(path); i--) {
    if (parts[i] !== '') path = path === '' ? (parts[i] as string) : `${parts[i]}/${path}`;
  }
  if (!isAbsolute(path)) path = `${host.readlink('/proc/self/cwd')}/${path}`;
  const normal = normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

export function dirname(path: string): string {
  const trimmed = trim(path);
  const end = trimmed.lastIndexOf('/');
  if (end < 0) return '.';
  return end === 0 ? '/' : trim(trimmed.slice(0, end));
}

export function basename(path: string): string {
  const trimmed = trim(path);
  return trimmed === '/' ? '' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function trim(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}
