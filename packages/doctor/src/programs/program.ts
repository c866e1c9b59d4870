/** The program behind a plugin's type: which file is run, what it is, what it answers. */

/**
 * What a program is. Heddle's client hands calls to the agent, and starts Heddle's program when there is none; a script
 * says nothing of what it runs in turn.
 */
export type ProgramKind = 'ELF program' | 'script' | "Heddle's client" | "Heddle's program" | 'unknown';

/** A program, or why there is none. */
export interface Program {
  readonly type: string;
  /** Where a runtime finds it; nothing when it does not. */
  readonly path?: string;
  /** Where that path leads in the end, when it is a link. */
  readonly target?: string;
  readonly kind?: ProgramKind;
  /** Bytes. */
  readonly size?: number;
  /** In hexadecimal digits; nothing when it may not be read. */
  readonly sha256?: string;
  /** The versions of the specification that it speaks; nothing when it was not asked, or did not say. */
  readonly versions?: readonly string[];
  /** What is in the way in earlier directories, in words. */
  readonly obstacles: readonly string[];
  /** `false` when the kernel refuses to start it. */
  readonly isStartable?: boolean;
  /** Why it cannot be run, or does not say its versions. */
  readonly problem?: string;
}

/** Programs by type. */
export interface Programs {
  /** Where they are looked for, in order. */
  readonly directories: readonly string[];
  /** Looks for a program and asks it for its versions, which changes nothing. */
  inspect(type: string): Promise<Program>;
}
