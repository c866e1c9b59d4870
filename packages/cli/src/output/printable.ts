/**
 * Text that a terminal shows as it is: characters that would move its cursor or change its colours are written
 * as `\\x1b`. Names come from files and from the kernel, where anybody with a container may have chosen them.
 */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
