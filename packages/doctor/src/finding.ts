/** What was found wrong: a value that says what, what follows from it and how to mend it. No behaviour, so it prints as JSON. */

/**
 * How bad it is. `error`: containers will fail to start, or have no network as it is meant. `warning`: it works today
 * and is likely to hurt. `note`: worth knowing.
 */
export type Severity = 'error' | 'warning' | 'note';

/** The severities, the worst first. */
export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'note'];

/** A place in a file; lines and columns count from 1, columns in UTF-16 units. */
export interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The line of the file, as it is there. */
  readonly excerpt?: string;
}

/** The replacement of a part of a file's text. */
export interface TextEdit {
  readonly file: string;
  /** Where it begins, in UTF-16 units from the start of the text. */
  readonly offset: number;
  /** How much is replaced; 0 to insert. */
  readonly length: number;
  readonly text: string;
}

/** A repair that is safe to make without asking further. Somebody else makes it; this only says what it is. */
export interface Fix {
  /** What it does, as a sentence fragment: "remove the comma". */
  readonly what: string;
  /** The parts of files to replace; no two of one file overlap. */
  readonly edits?: readonly TextEdit[];
  /** A file that gets another name. */
  readonly rename?: { readonly from: string; readonly to: string };
  /** The command line that makes the repair, where that is not `--fix` of an audit that was asked for. */
  readonly command?: string;
}

/** Something that is wrong. */
export interface Finding {
  /** The rule that found it; see `Rule.id`. */
  readonly id: string;
  readonly severity: Severity;
  /** Where it is written, for what is in a file. */
  readonly place?: Place;
  /** What it is about, for what is not in a file: a network, an attachment, a link. */
  readonly subject?: string;
  /** What is wrong: one sentence, no full stop. */
  readonly what: string;
  /** What will happen, or happens, at run time. */
  readonly consequence: string;
  /** How to mend it. */
  readonly remedy: string;
  /**
   * The remedy as lines for root's shell, in their order, each as it is to be typed: see `commandLine`. Of several ways to
   * mend it they are one. None where the operator must choose or write something.
   */
  readonly commands?: readonly string[];
  /** What shows it: measurements, lines of a log, other files' places. */
  readonly evidence?: readonly string[];
  readonly fix?: Fix;
}

/** The worst severity among findings; `undefined` when there are none. */
export function worst(findings: readonly Finding[]): Severity | undefined {
  return SEVERITIES.find((severity) => findings.some((finding) => finding.severity === severity));
}
