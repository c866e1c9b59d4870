/**
 * The errors of the contract. Each is a `HeddleError` that also knows what it looks like as the JSON
 * error object of CNI: `{code, msg, details?}`.
 *
 * Two texts with similar names: `msg` and `cniDetails` are the object's members; `message` is both in one
 * line (`msg; details`), the form in which the reference implementation shows errors.
 */
import { ErrorList, HeddleError, type HeddleErrorOptions } from '@heddle/errors';
import { CNI_CODE, codeForHeddleError, codeName } from './codes.ts';

/** The JSON form of an error, as a plugin prints it on stdout. */
export interface CniErrorJson {
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

/** What may accompany a {@link CniError}. */
export interface CniErrorOptions extends HeddleErrorOptions {
  /** The object's `details` member. */
  readonly cniDetails?: string;
  /** The stable identifier, where it is finer than the name of the number. */
  readonly code?: string;
}

/**
 * A failure with a CNI error code.
 *
 * @example throw new CniError(CNI_CODE.INVALID_NETNS, 'not a network namespace: /run/x');
 */
export class CniError extends HeddleError {
  readonly code: string;
  /** The number in the JSON object; see `CNI_CODE`. */
  readonly cniCode: number;
  /** The object's `msg` member. */
  readonly msg: string;
  /** The object's `details` member. */
  readonly cniDetails?: string;

  constructor(cniCode: number, msg: string, options: CniErrorOptions = {}) {
    super(joinDetails(msg, options.cniDetails), options);
    this.code = options.code ?? codeName(cniCode) ?? 'CNI_ERROR';
    this.cniCode = cniCode;
    this.msg = msg;
    if (options.cniDetails !== undefined) this.cniDetails = options.cniDetails;
  }

  /** The error object to print. A hint for the reader goes into its details. */
  toJSON(): CniErrorJson {
    const details = [this.cniDetails, this.hint]
      .filter((text) => text !== undefined && text !== '')
      .join('; ');
    return { code: this.cniCode, msg: this.msg, ...(details !== '' && { details }) };
  }
}

/** The environment or the arguments of an invocation are wrong (code 4). */
export class UsageError extends CniError {
  constructor(msg: string, options: CniErrorOptions = {}) {
    super(CNI_CODE.INVALID_ENVIRONMENT, msg, { code: 'ENV_INVALID', ...options });
  }
}

/** A place in a file or text: lines and columns count from 1, columns in UTF-16 units. */
export interface SourcePosition {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** What may accompany a {@link DecodeError}. */
export interface DecodeErrorOptions extends CniErrorOptions, SourcePosition {
  /** The activity that failed; the message begins with it. */
  readonly what?: string;
  /** The offending value's place in a JSON text, as a JSON pointer. */
  readonly pointer?: string;
}

/**
 * Text that could not be decoded (code 6). With a file the message begins `file:line:column: `; without
 * one it keeps the reference's wording and the place goes into the details.
 */
export class DecodeError extends CniError implements SourcePosition {
  /** Why, without the place and the activity. */
  readonly reason: string;
  readonly pointer?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;

  constructor(reason: string, options: DecodeErrorOptions = {}) {
    const text = options.what === undefined ? reason : `${options.what}: ${reason}`;
    const details = [options.file === undefined ? lineAndColumn(options) : undefined, options.cniDetails];
    const cniDetails = details.filter((part) => part !== undefined).join(': ');
    const { cniDetails: _, ...rest } = options;
    super(CNI_CODE.DECODING_FAILURE, atPosition(text, options), {
      code: 'DECODE_FAILED',
      ...rest,
      ...(cniDetails !== '' && { cniDetails }),
    });
    this.reason = reason;
    if (options.pointer !== undefined) this.pointer = options.pointer;
    assignPosition(this, options);
  }
}

/** What may accompany a {@link ConfigError}. */
export interface ConfigErrorOptions extends CniErrorOptions, SourcePosition {
  /** The activity that failed; the message begins with it. */
  readonly what?: string;
  /** The offending value's place, as a JSON pointer (RFC 6901); '' is the whole document. */
  readonly pointer?: string;
  /** What would have been right, in words. */
  readonly expected?: string;
  /** What was there, in words. */
  readonly received?: string;
}

/** A configuration that is JSON but not valid (code 7): says where, what was expected and what is there. */
export class ConfigError extends CniError implements SourcePosition {
  /** Why, without the place and the activity. */
  readonly reason: string;
  readonly pointer: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly expected?: string;
  readonly received?: string;

  constructor(reason: string, options: ConfigErrorOptions = {}) {
    const text = options.what === undefined ? reason : `${options.what}: ${reason}`;
    super(CNI_CODE.INVALID_CONFIG, atPosition(text, options), { code: 'CONFIG_INVALID', ...options });
    this.reason = reason;
    this.pointer = options.pointer ?? '';
    assignPosition(this, options);
    if (options.expected !== undefined) this.expected = options.expected;
    if (options.received !== undefined) this.received = options.received;
  }
}

/** What a plugin itself answered; code and texts are as received. */
export class PluginError extends CniError {
  /** The plugin's type. */
  readonly plugin: string;

  constructor(plugin: string, answer: CniErrorJson, options: HeddleErrorOptions = {}) {
    super(answer.code, answer.msg, {
      ...options,
      code: 'PLUGIN_FAILED',
      ...(answer.details !== undefined && answer.details !== '' && { cniDetails: answer.details }),
    });
    this.plugin = plugin;
  }

  /**
   * The error for an error object as parsed from a plugin's stdout. Missing members read as zero values;
   * names match in any letter case, as the reference decodes them.
   *
   * @throws {DecodeError} when `answer` is not such an object.
   */
  static fromJson(plugin: string, answer: unknown, options?: HeddleErrorOptions): PluginError {
    return new PluginError(plugin, errorJson(answer), options);
  }
}

const UNAVAILABLE = {
  TRY_AGAIN: CNI_CODE.TRY_AGAIN,
  NOT_READY: CNI_CODE.PLUGIN_NOT_AVAILABLE,
  LIMITED_CONNECTIVITY: CNI_CODE.LIMITED_CONNECTIVITY,
} as const;

/** The service is not there at the moment: code 11, 50 or 51. */
export class UnavailableError extends CniError {
  constructor(kind: keyof typeof UNAVAILABLE, msg: string, options: CniErrorOptions = {}) {
    super(UNAVAILABLE[kind], msg, { ...options, code: kind });
  }
}

/**
 * The error to print for anything that was thrown. A code survives wrapping: an error whose cause has a
 * code keeps it. An {@link ErrorList} keeps the code that all its members share. What is no `HeddleError`
 * is a defect and becomes 999.
 */
export function toCniError(error: unknown): CniError {
  if (error instanceof CniError) return error;
  if (!(error instanceof Error)) return new CniError(CNI_CODE.INTERNAL, String(error), { cause: error });
  return new CniError(codeOf(error), error.message, {
    cause: error,
    ...(error instanceof HeddleError && { code: error.code }),
    ...(error instanceof HeddleError && error.hint !== undefined && { hint: error.hint }),
  });
}

function codeOf(error: unknown): number {
  if (error instanceof CniError) return error.cniCode;
  if (error instanceof ErrorList) return sharedCode(error.errors);
  const own = error instanceof HeddleError ? codeForHeddleError(error.code) : undefined;
  if (own !== undefined) return own;
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : CNI_CODE.INTERNAL;
}

function sharedCode(errors: readonly unknown[]): number {
  const codes = new Set(errors.map(codeOf));
  const [only] = codes;
  return codes.size === 1 && only !== undefined ? only : CNI_CODE.SEVERAL;
}

function errorJson(answer: unknown): CniErrorJson {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    throw new DecodeError('an error object must be a JSON object');
  }
  const members = new Map(Object.entries(answer).map(([name, value]) => [name.toLowerCase(), value]));
  const code = members.get('code') ?? 0;
  const msg = members.get('msg') ?? '';
  const details = members.get('details') ?? '';
  if (typeof code !== 'number' || !Number.isInteger(code) || code < 0) {
    throw new DecodeError('the code of an error object must be a whole number');
  }
  if (typeof msg !== 'string' || typeof details !== 'string') {
    throw new DecodeError('msg and details of an error object must be strings');
  }
  return { code, msg, details };
}

function joinDetails(msg: string, details: string | undefined): string {
  return details === undefined || details === '' ? msg : `${msg}; ${details}`;
}

function atPosition(text: string, { file, line, column }: SourcePosition): string {
  if (file === undefined) return text;
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return `${place}: ${text}`;
}

function lineAndColumn({ line, column }: SourcePosition): string | undefined {
  return line === undefined ? undefined : `line ${line}, column ${column ?? 1}`;
}

function assignPosition(
  error: { -readonly [K in keyof SourcePosition]: SourcePosition[K] },
  position: SourcePosition,
): void {
  if (position.file !== undefined) error.file = position.file;
  if (position.line !== undefined) error.line = position.line;
  if (position.column !== undefined) error.column = position.column;
}
