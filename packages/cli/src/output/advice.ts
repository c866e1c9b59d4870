/** What can be done about failures that plugins and the kernel tell in words of their own. */

/** @param messages of a failure and of its causes */
export function adviceFor(
  messages: readonly string[],
  { isRoot }: { readonly isRoot: boolean },
): readonly string[] {
  const says = (pattern: RegExp) => messages.some((message) => pattern.test(message));
  return [
    ...(says(/ARGS: unknown args /)
      ? ['IgnoreUnknown=1 in CNI_ARGS lets plugins pass over what they do not know']
      : []),
    ...(!isRoot && says(DENIED) ? ['this needs root'] : []),
  ];
}

const DENIED = /\b(EPERM|EACCES|permission denied|operation not permitted)\b/i;
