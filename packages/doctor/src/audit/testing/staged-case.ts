/** A fault that is staged, and something that is almost one. */
import type { Scene } from './scene.ts';

/** One rule's two scenes. */
export interface StagedCase {
  readonly rule: string;
  /** What it finds. */
  readonly bad: Scene;
  /** Where: `file:line:column`, `file`, or a part of that. */
  readonly at: string;
  /** What it must not find, although it looks alike. */
  readonly good: Scene;
}

/** A scene of one file. */
export function one(content: unknown, more: Omit<Scene, 'files'> = {}, name = '10-pods.conflist'): Scene {
  return { files: { [name]: content }, ...more };
}
