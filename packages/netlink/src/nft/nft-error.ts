import { HeddleError } from '@heddle/errors';

/**
 * A change that cannot be written down for the kernel: a value that is not of its key's type, a match
 * that can never hold in the table's family, a rule without handle to delete.
 */
export class NftError extends HeddleError {
  override readonly code = 'NFT_INVALID';
}
