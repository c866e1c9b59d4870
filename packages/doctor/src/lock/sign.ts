/** Signatures of locks: Ed25519, by the keys that `openssl genpkey -algorithm ed25519` makes. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { UsageError } from '@heddle/cni';
import { type Lock, type LockSignature, signedBytes } from './lock.ts';

/**
 * The lock with a signature in place of the one that it may have.
 *
 * @param pem a private key
 * @param name what errors call it
 * @throws {UsageError} when it is no private key of Ed25519
 */
export function signLock(lock: Lock, pem: string, name = 'the key'): Lock {
  const key = ed25519(() => createPrivateKey(pem), 'a private key', name);
  const signature: LockSignature = {
    algorithm: 'ed25519',
    key: fingerprint(createPublicKey(key)),
    value: sign(null, signedBytes(lock), key).toString('base64'),
  };
  return { ...lock, signature };
}

/** What is wrong with a lock's signature; nothing when it is this key's and fits. */
export type SignatureProblem = 'unsigned' | 'another key' | 'does not fit';

/**
 * Checks a lock's signature.
 *
 * @param pem a public key, or the private one
 * @param name what errors call it
 * @throws {UsageError} when it is no key of Ed25519
 */
export function checkSignature(lock: Lock, pem: string, name = 'the key'): SignatureProblem | undefined {
  const key = ed25519(() => createPublicKey(pem), 'a public key', name);
  const { signature } = lock;
  if (signature === undefined) return 'unsigned';
  if (signature.key !== fingerprint(key)) return 'another key';
  const fits = verify(null, signedBytes(lock), key, Buffer.from(signature.value, 'base64'));
  return fits ? undefined : 'does not fit';
}

function ed25519(read: () => KeyObject, what: string, name: string): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch (error) {
    throw new UsageError(`${name}: this is not ${what} in PEM`, { cause: error, hint: HINT });
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new UsageError(`${name}: this is a key of ${key.asymmetricKeyType}, not of ed25519`, { hint: HINT });
}

const HINT =
  'openssl genpkey -algorithm ed25519 -out lock.key; openssl pkey -in lock.key -pubout -out lock.pub';

function fingerprint(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
