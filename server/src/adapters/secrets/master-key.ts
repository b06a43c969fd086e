import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { Secrets } from '../../kit/ports.ts'

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const keyBytes = 32

export const masterKeyBytes = 32

/** Encryption and keyed hashing under one master key, each with a key of its own derived from it. */
export function secretsUnder(masterKey: Buffer): Secrets {
  const sealingKey = keyFor(masterKey, 'parley sealing')
  const hashingKey = keyFor(masterKey, 'parley fingerprints')
  return {
    seal(plain) {
      const nonce = randomBytes(nonceBytes)
      const sealing = createCipheriv(cipher, sealingKey, nonce)
      const body = Buffer.concat([sealing.update(plain, 'utf8'), sealing.final()])
      return Buffer.concat([nonce, sealing.getAuthTag(), body]).toString('base64')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64')
      const opening = createDecipheriv(cipher, sealingKey, bytes.subarray(0, nonceBytes))
      opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      return Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]).toString('utf8')
    },
    fingerprint: (text) => createHmac('sha256', hashingKey).update(text).digest('base64url'),
    derive: (purpose, bytes) => derive(masterKey, `parley ${purpose}`, bytes),
  }
}

/** A key object, made once: from plain bytes each use would make one anew, at several times the cost of the hash. */
function keyFor(masterKey: Buffer, purpose: string): KeyObject {
  return createSecretKey(derive(masterKey, purpose, keyBytes))
}

function derive(masterKey: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), purpose, bytes))
}
