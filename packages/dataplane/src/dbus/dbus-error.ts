import { HeddleError } from '@heddle/errors';

/** A bus that cannot be spoken to, or the error that somebody on it answered. */
export class DBusError extends HeddleError {
  override readonly code = 'DBUS';
  /** The error's name, such as `org.freedesktop.DBus.Error.AccessDenied`; absent when it is not an answer. */
  readonly errorName: string | undefined;

  constructor(message: string, options: { readonly errorName?: string; readonly cause?: unknown } = {}) {
    const { errorName, cause } = options;
    super(message, {
      ...(cause !== undefined && { cause }),
      ...(errorName !== undefined && { details: { errorName } }),
    });
    this.errorName = errorName;
  }
}
