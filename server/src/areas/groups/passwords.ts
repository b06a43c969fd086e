import { randomBytes, type ScryptOptions, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto'

/**
 * Passwords of groups are kept as salted hashes that are slow to guess. Hashing happens off the event loop but inside the
 * request's transaction, which on SQLite all writers share; so the cost is what a writer can wait for, about ten
 * milliseconds. Each hash names its cost: a higher one later leaves the earlier ones valid.
 */
const cost = 4_096
const saltBytes = 16
const keyBytes = 32

function scrypt(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scryptWithCallback(password.normalize('NFC'), salt, keyBytes, options, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const key = await scrypt(password, salt, { N: cost })
  return ['scrypt', cost, salt.toString('base64'), key.toString('base64')].join('$')
}

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, N, salt = '', key = ''] = hash.split('$')
  const expected = Buffer.from(key, 'base64')
  return timingSafeEqual(await scrypt(password, Buffer.from(salt, 'base64'), { N: Number(N) }), expected)
}
